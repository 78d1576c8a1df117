import { type LoggingSettings } from '@decision/contracts';
import { type SolvedInput } from './solved-input';

/** The parts of one version's decisions that are logged (docs/adr/0055-masks-are-made-before-the-topic.md). */
export interface LoggingPolicy {
  readonly settings: LoggingSettings;
  /** Whether a rule or flow that the flow runs hides something, which the trace of the flow would show. */
  readonly hidesTrace: boolean;
}

/** Policy if the real one is unknown: only the decision's outcome is logged, and it is answered once that is on record. */
export const NOTHING_SHOWN: LoggingPolicy = {
  settings: { request: 'none', response: 'none', delivery: 'required' },
  hidesTrace: true,
};

/** The combination of two policies: everything that either hides is hidden. */
export const stricterPolicy = (
  a: LoggingPolicy | undefined,
  b: LoggingPolicy | undefined,
): LoggingPolicy | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const [one, other] = [a.settings, b.settings];
  const isRequired = one.delivery === 'required' || other.delivery === 'required';
  return {
    settings: {
      request: bothShow(one.request, other.request),
      response: bothShow(one.response, other.response),
      mask: [...(one.mask ?? []), ...(other.mask ?? [])],
      delivery: isRequired ? 'required' : 'buffered',
    },
    hidesTrace: a.hidesTrace || b.hidesTrace,
  };
};

type Shown = NonNullable<LoggingSettings['request']>;

const bothShow = (a: Shown = 'full', b: Shown = 'full'): Shown => {
  if (a === 'none' || b === 'none') return 'none';
  if (typeof a === 'string') return b;
  if (typeof b === 'string') return a;
  const isWithin = (path: string, of: readonly string[]): boolean =>
    of.some((other) => path === other || path.startsWith(`${other}.`));
  const shown = new Set([...a.filter((path) => isWithin(path, b)), ...b.filter((path) => isWithin(path, a))]);
  return shown.size === 0 ? 'none' : [...shown];
};

/** The mask of a value: the same for equal values of one workspace; undefined without a key, and then the value is left out. */
export type MaskValue = ((text: string) => string) | undefined;

/** A decision reduced to the parts that its policy allows. */
export const withPolicy = (item: SolvedInput, policy: LoggingPolicy, mask: MaskValue): SolvedInput => {
  const { settings, hidesTrace } = policy;
  const { request = 'full', response = 'full', mask: paths = [] } = settings;
  const hides = request !== 'full' || response !== 'full' || paths.length > 0;
  if (!hides) return hidesTrace ? { ...item, pathTrace: bareTrace(item.pathTrace) } : item;
  const part = (name: 'request' | 'response', kept: 'full' | 'none' | readonly string[], text: string): string => {
    const masked = paths.filter((path) => path.startsWith(`${name}.`)).map((path) => namesOf(path).slice(1));
    return partText(text, { kept: typeof kept === 'string' ? kept : kept.map(namesOf), masked }, mask);
  };
  return {
    ...item,
    request: part('request', request, item.request),
    result: item.error === undefined ? part('response', response, withoutExplanation(item.result)) : failure(item),
    pathTrace: bareTrace(item.pathTrace),
    isCut: request !== 'full' || response !== 'full' || mask === undefined,
  };
};

const namesOf = (path: string): readonly string[] => path.split('.');

/** An error message may show values. */
const failure = ({ error }: SolvedInput): string => JSON.stringify({ error: 'It is not logged.', code: error?.code });

interface Part {
  readonly kept: 'full' | 'none' | readonly (readonly string[])[];
  readonly masked: readonly (readonly string[])[];
}

const partText = (text: string, { kept, masked }: Part, mask: MaskValue): string => {
  if (kept === 'none') return EMPTY;
  if (kept === 'full' && masked.length === 0) return text;
  const whole: unknown = JSON.parse(text);
  const shown = kept === 'full' ? whole : only(whole, kept);
  return JSON.stringify(masked.reduce((value, path) => replaced(value, path, mask), shown) ?? null);
};

/** A response is an object too. */
const EMPTY = '{}';

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values at the paths, in the objects and lists around them. Scalars along a path are left out. */
const only = (value: unknown, paths: readonly (readonly string[])[]): unknown => {
  if (paths.some((path) => path.length === 0)) return value;
  if (Array.isArray(value)) return value.map((item) => only(item, paths) ?? {});
  if (!isMembers(value)) return undefined;
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const below = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    const shown = below.length === 0 ? undefined : only(member, below);
    return shown === undefined ? [] : [[name, shown] as const];
  });
  return Object.fromEntries(kept);
};

/** The value with the part at a path replaced by its mask, or left out. */
const replaced = (value: unknown, [name, ...rest]: readonly string[], mask: MaskValue): unknown => {
  if (name === undefined) return mask?.(JSON.stringify(value));
  if (Array.isArray(value)) return value.map((item) => replaced(item, [name, ...rest], mask));
  if (!isMembers(value) || !Object.hasOwn(value, name)) return value;
  const entries = Object.entries(value).flatMap(([key, member]) => {
    const next = key === name ? replaced(member, rest, mask) : member;
    return next === undefined ? [] : [[key, next] as const];
  });
  return Object.fromEntries(entries);
};

const withoutExplanation = (text: string): string => {
  if (!text.includes('"$explain"')) return text;
  const { $explain: _, ...answer } = JSON.parse(text) as Members; // answers are objects
  return JSON.stringify(answer);
};

/** The outcomes of a trace's nodes, without their values. */
const bareTrace = (pathTrace: string | undefined): string | undefined => {
  if (pathTrace === undefined) return undefined;
  const { path_trace: entries, ...rest } = JSON.parse(`{${pathTrace}}`) as { readonly path_trace: readonly Members[] };
  const bare = entries.map(({ inputs: _inputs, outputs: _outputs, ...entry }) => entry);
  return JSON.stringify({ path_trace: bare, ...rest }).slice(1, -1);
};
