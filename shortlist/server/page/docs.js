// Show the OpenAPI document.

import { byId, make } from "./api.js";

const api = await (await fetch("openapi.json")).json();
const resolve = (schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema);

function kind(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.prefixItems) return `${schema.prefixItems.map(kind).join(", ")}`;
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  return schema.type ?? "any";
}

function limits(schema) {
  const words = { minimum: "at least", maximum: "at most", minLength: "length at least", maxLength: "length at most", minItems: "at least", default: "if not given" };
  return Object.entries(words).filter(([name]) => schema[name] !== undefined && schema[name] !== null)
    .map(([name, word]) => `${word} ${JSON.stringify(schema[name])}`).join(", ");
}

function fields(schema, given = false) {
  const whole = resolve(schema);
  return make("table", {}, ...Object.entries(whole.properties ?? {}).map(([name, one]) =>
    fieldRow(name, one, !given && whole.required?.includes(name), one.description)));
}

function fieldRow(name, schema, needed, description) {
  const about = [description?.replace(/\.$/, ""), limits(schema), needed ? "needed" : ""].filter(Boolean).join("; ");
  return make("tr", {}, make("td", {}, make("code", { textContent: name })), make("td", { textContent: kind(schema) }), make("td", { textContent: about }));
}

function parts(operation) {
  const found = [];
  if (operation.parameters?.length) {
    found.push(make("h3", { textContent: "Parameters" }), make("table", {}, ...operation.parameters.map((one) =>
      fieldRow(one.name, one.schema, one.required, one.description ?? one.schema.description))));
  }
  for (const [type, asked] of Object.entries(operation.requestBody?.content ?? {})) {
    const isJson = type === "application/json"; // else it is a file
    found.push(make("h3", { textContent: "Question" }), isJson ? fields(asked.schema) : make("p", { textContent: `A file, as ${type}.` }));
  }
  const answered = operation.responses["200"]?.content?.["application/json"]?.schema;
  if (answered) found.push(make("h3", { textContent: "Answer" }), fields(answered, true));
  found.push(make("h3", { textContent: "Otherwise" }), make("table", {}, ...Object.entries(operation.responses)
    .filter(([status]) => status !== "200")
    .map(([status, one]) => make("tr", {}, make("td", {}, make("code", { textContent: status })), make("td", { textContent: one.description })))));
  return found;
}

const cards = Object.entries(api.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([verb, operation]) => make("section", { className: "card" },
    make("h2", {}, make("span", { className: "verb", textContent: `${verb.toUpperCase()} ` }), make("code", { textContent: path })),
    make("p", { textContent: operation.description }), ...parts(operation))));
const shapes = Object.entries(api.components.schemas).map(([name, schema]) =>
  make("section", { className: "card" }, make("h2", {}, make("code", { textContent: name })), fields(schema, true)));
byId("operations").replaceChildren(...cards, ...shapes);
