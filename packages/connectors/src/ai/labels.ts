import { type FlowValueType, parseJson } from '@decision/contracts';
import { fitsType } from '@decision/flows';
import { isMissing, isPlainObject } from '@decision/values';
import { ConnectorFailure, type NodeOutputs } from '../connector';

/** A value that a model is asked for; `any` if it declares no type. */
export interface Label {
  readonly name: string;
  readonly type?: FlowValueType;
  readonly description?: string;
}

const SCALARS = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] as const;
const NULL = { type: 'null' } as const;
const LIST = { type: 'array', items: { anyOf: SCALARS } } as const;

/**
 * A schema of one type, with a description where the type alone is not enough. Strict schemas of model servers do not support objects with
 * arbitrary members, so objects are asked for as JSON text.
 */
const SCHEMAS: Readonly<Record<FlowValueType, { readonly anyOf: readonly object[]; readonly hint?: string }>> = {
  string: { anyOf: [{ type: 'string' }, NULL] },
  number: { anyOf: [{ type: 'number' }, NULL] },
  boolean: { anyOf: [{ type: 'boolean' }, NULL] },
  date: {
    anyOf: [{ type: 'string' }, NULL],
    hint: 'A date or a time in ISO 8601, such as 2026-03-31 or 2026-03-31T10:00:00Z.',
  },
  list: { anyOf: [LIST, NULL] },
  object: { anyOf: [{ type: 'string' }, NULL], hint: 'A JSON object, written as text.' },
  any: { anyOf: [...SCALARS, LIST, NULL] },
};

/** The JSON Schema of an answer: an object with every label and nothing else, each null if the data does not give it. */
export const schemaOf = (labels: readonly Label[]): object => ({
  type: 'object',
  properties: Object.fromEntries(labels.map((label) => [label.name, schemaOfLabel(label)] as const)),
  required: [...new Set(labels.map(({ name }) => name))],
  additionalProperties: false,
});

const schemaOfLabel = ({ type = 'any', description }: Label): object => {
  const { anyOf, hint } = SCHEMAS[type];
  const words = [description, hint].filter((text) => text !== undefined && text !== '').join(' ');
  return { anyOf, ...(words === '' ? {} : { description: words }) };
};

/**
 * Reads the outputs from a model's answer and checks them against its schema. Throws a {@link ConnectorFailure} that names the label, and
 * no value.
 */
export const readLabels = (text: string, labels: readonly Label[]): NodeOutputs => {
  const parsing = parseJson(text);
  if (!parsing.ok) throw unfit(`is not JSON: ${parsing.problem.reason} at position ${parsing.problem.position}`);
  const { value } = parsing;
  if (!isPlainObject(value)) throw unfit(`is not a JSON object`);
  const names = new Set(labels.map(({ name }) => name));
  if (Object.keys(value).some((key) => !names.has(key))) throw unfit('has members beside the labels');
  const outputs = labels.map(({ name, type = 'any' }) => {
    if (!Object.hasOwn(value, name)) throw unfit(`lacks the label "${name}"`, name);
    return [name, readLabel(value[name], name, type)] as const;
  });
  return Object.fromEntries(outputs.filter(([, output]) => !isMissing(output)));
};

const readLabel = (value: unknown, name: string, type: FlowValueType): unknown => {
  if (value === null) return undefined;
  const parsing = type === 'object' && typeof value === 'string' ? parseJson(value) : undefined;
  const read = parsing?.ok === true ? parsing.value : value;
  const fits = type === 'date' ? typeof read === 'string' && fitsType(read, type) : fitsType(read, type);
  if (fits) return read;
  const came = Array.isArray(read) ? 'list' : typeof read;
  throw unfit(`has for "${name}" a value of type ${came} that does not fit the type ${type}`, name);
};

/** Another attempt may fit, since the answers of models vary. */
const unfit = (fault: string, label?: string): ConnectorFailure =>
  new ConnectorFailure(
    `The answer of the model ${fault}; describe the labels more clearly, set retries, or use another model.`,
    { mayRetry: true, blamesTarget: false, ...(label === undefined ? {} : { details: { label } }) },
  );
