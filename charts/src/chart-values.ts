import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A value as YAML and JSON know it. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** A value that operators set. */
export interface ChartValue {
  readonly path: readonly string[];
  readonly default: Value;
  /** Purpose, as sentences. */
  readonly meaning: string;
  /** What its comment says of its form, over what follows from the default. */
  readonly schema: Readonly<Record<string, Value>> | undefined;
}

/** Folder of the charts. */
export const chartsFolder = join(__dirname, '..');

export const SERVICES = [
  'objects-api',
  'contexts-api',
  'hps-gateway',
  'solve-worker',
  'log-collector',
  'auth-proxy-adapter',
] as const;
export const SERVERS = ['mq', 'cache', 'database'] as const;
export const UMBRELLA = 'decision-service';

const KEY = /^( *)([A-Za-z][\w-]*):/;
const COMMENT = /^ *# -- (.*)$/;
const SCHEMA = /^ *# @schema (.*)$/;

/**
 * The values of a chart by the comments of its `values.yaml`: a key below `# -- sentence` is one value, whatever it contains; a key without is a group.
 * `# @schema {...}` says what may stand there. Throws where a key is neither, with its place.
 */
export const readChartValues = (chart: string): readonly ChartValue[] => {
  const text = readFileSync(join(chartsFolder, chart, 'values.yaml'), 'utf8');
  const defaults = parse(text) as Value;
  const found: ChartValue[] = [];
  const path: string[] = [];
  let comment: { meaning: string; schema?: string } | undefined;
  let schema: string | undefined;
  /** Lines that are indented further belong to a value. */
  let within = Infinity;
  text.split('\n').forEach((line, index) => {
    const said = COMMENT.exec(line)?.[1];
    if (said !== undefined) comment = { meaning: said };
    schema = SCHEMA.exec(line)?.[1] ?? schema;
    const key = KEY.exec(line);
    if (key === null) return;
    const [, blanks = '', name = ''] = key;
    if (blanks.length > within) return;
    within = Infinity;
    path.splice(blanks.length / 2);
    path.push(name);
    const value = valueAt(defaults, path);
    if (comment !== undefined) {
      found.push({
        ...{ path: [...path], default: value, meaning: comment.meaning },
        schema: schema === undefined ? undefined : (JSON.parse(schema) as Record<string, Value>),
      });
      within = blanks.length;
    } else if (!isGroup(value)) {
      throw new TypeError(
        `${chart}/values.yaml:${index + 1}: ${path.join('.')} has no comment that begins with "# -- ".`,
      );
    }
    [comment, schema] = [undefined, undefined];
  });
  return found;
};

const isGroup = (value: Value): value is { readonly [name: string]: Value } =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const valueAt = (values: Value, path: readonly string[]): Value =>
  path.reduce<Value>((at, name) => (isGroup(at) ? (at[name] ?? null) : null), values);
