import { type ChartValue, readChartValues, SERVERS, SERVICES, UMBRELLA, type Value } from './chart-values';

/** A JSON Schema of draft 7 as an object. */
interface Schema {
  [name: string]: Value | Schema | undefined;
  properties?: Record<string, Schema>;
}

const PARTS: readonly string[] = [...SERVICES, ...SERVERS];

/** The schema of a chart's values: what its `values.yaml` has and nothing else. The umbrella's holds those of its parts, which count though a part is off. */
export const valuesSchema = (chart: string): Schema => {
  const schema = strictObject();
  for (const value of readChartValues(chart)) put(schema, value);
  const properties = schema.properties ?? {};
  if (chart === UMBRELLA) for (const part of PARTS) properties[part] = bare(valuesSchema(part));
  // Helm hands every part what is global.
  else properties['global'] = { type: 'object' };
  // Helm writes down what the library chart could be given, which is nothing but what is global.
  properties['library'] = { type: 'object', additionalProperties: false, properties: { global: { type: 'object' } } };
  return { $schema: 'http://json-schema.org/draft-07/schema#', title: chart, ...schema };
};

const strictObject = (): Schema => ({ type: 'object', additionalProperties: false, properties: {} });

const bare = (schema: Schema): Schema => {
  const copy = { ...schema };
  delete copy['$schema'];
  delete copy['title'];
  return copy;
};

const put = (schema: Schema, value: ChartValue): void => {
  const [last = '', ...groups] = [...value.path].reverse();
  let at = schema;
  for (const name of groups.reverse()) at = (at.properties ??= {})[name] ??= strictObject();
  (at.properties ??= {})[last] = { ...inferred(value.default), ...value.schema, description: value.meaning };
};

/** The form of a value by its default: whole numbers are not negative, lists and maps hold anything. */
const inferred = (value: Value): Schema => {
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (typeof value === 'number') return { type: 'integer', minimum: 0 };
  if (value === null) return {};
  return { type: Array.isArray(value) ? 'array' : 'object' };
};
