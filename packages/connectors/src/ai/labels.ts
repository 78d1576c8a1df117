import { type FlowValueType, parseJson } from '@decision/contracts';
import { fitsType } from '@decision/flows';
import { isMissing, isPlainObject } from '@decision/values';
import { ConnectorFailure, type NodeOutputs } from '../connector';

/** A value that a model is asked for; `any` where it names no type. */
export interface Label {
  readonly name: string;
  readonly type?: FlowValueType;
  readonly description?: string;
}

const SCALARS = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] as const;
const NULL = { type: 'null' } as const;
const LIST = { type: 'array', items: { anyOf: SCALARS } } as const;

/** A schema of one type, with what a reader of it has to know. Schemas that servers hold models to know no objects with free members. */
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

/** The JSON Schema of an answer: an object with every label and nothing else, each null where the data does not give it. */
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

/** The outputs that a model answered, held to its schema. Throws a {@link ConnectorFailure} that names the label, and no value. */
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

/** Another attempt may be answered better: models draw their words. */
const unfit = (fault: string, label?: string): ConnectorFailure =>
  new ConnectorFailure(
    `The answer of the model ${fault}; describe the labels more clearly, set retries, or use another model.`,
    { mayRetry: true, blamesTarget: false, ...(label === undefined ? {} : { details: { label } }) },
  );
