import { type Static, type TSchema } from '@sinclair/typebox';
import Ajv, { type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

/** One fault of a value against its schema. */
export interface SchemaProblem {
  /** JSON pointer to the fault, truncated with dots if it is long; empty for the whole value. */
  readonly path: string;
  /** A sentence fragment such as `must be string`. */
  readonly message: string;
}

type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Checks a value against a schema; never throws and never changes the value. At most {@link MAX_PROBLEMS} problems are reported. */
export type Validator<T> = (value: unknown) => Checked<T>;

/** Number of problems after which the rest of a value is not checked: neither the time nor the memory of a rejection grows with the value. */
export const MAX_PROBLEMS = 100;
/** Longest path and longest name that a problem repeats, characters: both come from the client. */
const MAX_PATH = 200;
const MAX_NAME = 100;

/** A function that creates its value on the first call and caches it. */
function memoized<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const OPTIONS: Options = { strict: true, allowUnionTypes: true };

/** Times of RFC 3339 in the range of the database: offsets below 16 hours, years from 1 on. Leap seconds are not accepted. */
const MOMENT = /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:[Zz]|[+-](?:0\d|1[0-5]):[0-5]\d)$/;
/** The first and the last valid time in a request. */
export const EARLIEST_TIME = '0001-01-01T00:00:00Z';
export const LATEST_TIME = '9999-12-31T23:59:59.999Z';
const [EARLIEST, LATEST] = [Date.parse(EARLIEST_TIME), Date.parse(LATEST_TIME)];
const MOMENT_FAULT =
  'must be a time such as 2026-01-15T09:30:00Z or 2026-01-15T10:30:00.250+01:00, of the years 1 to 9999 and with an offset below 16 hours';

const isMoment = (text: string): boolean => {
  if (!MOMENT.test(text)) return false;
  const instant = Date.parse(text.toUpperCase());
  // Date.parse interprets February 31 as March 3.
  return instant >= EARLIEST && instant <= LATEST && isDay(text);
};

/** Whether the month has such a day. */
const isDay = (text: string): boolean => {
  // Every month has these days; `Date.parse` has refused day 0.
  if (Number(text.slice(8, 10)) <= 28) return true;
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

const withFormats = (ajv: Ajv): Ajv =>
  addFormats(ajv).addFormat('date-time', {
    type: 'string',
    validate: isMoment,
    compare: (a: string, b: string) => Date.parse(a) - Date.parse(b),
  });

/** Stops at the first problem. */
const decidingAjv = memoized(() => withFormats(new Ajv(OPTIONS)));

/** Statement that Ajv generates for each problem, after adding the problem to `vErrors`. */
const NOTED = 'errors++;';

/** Continues after a problem, and throws the problems once there are enough; Ajv itself stops at the first or collects all. */
const collectingAjv = memoized(() =>
  withFormats(
    new Ajv({
      ...OPTIONS,
      allErrors: true,
      // `decidingAjv` has validated the schema.
      validateSchema: false,
      code: { process: (code) => code.replaceAll(NOTED, `${NOTED}if(errors>=${MAX_PROBLEMS})throw vErrors;`) },
    }),
  ),
);

/**
 * A validator of one of our own schemas, never of a client's. The schema is compiled for the first checked value: a process uses only a few of
 * its schemas, and compiling all of them took more than half of a service's startup time.
 */
export const compileValidator = <S extends TSchema>(schema: S): Validator<Static<S>> => {
  const named = memoized(() => withoutIds(schema));
  const decider = memoized(() => decidingAjv().compile<Static<S>>(named()));
  const collector = memoized(() => collectingAjv().compile(named()));
  return (value) => {
    const decide = decider();
    if (decide(value)) return { ok: true, value };
    const first = decide.errors ?? [];
    return { ok: false, problems: (collectErrors(collector(), value) ?? first).map(toProblem) };
  };
};

/** The problems of a value, in the order of the schema; undefined if there are none. */
const collectErrors = (collect: ValidateFunction, value: unknown): readonly ErrorObject[] | undefined => {
  try {
    collect(value);
    return collect.errors ?? undefined;
  } catch (thrown) {
    if (!Array.isArray(thrown)) throw thrown;
    return thrown as ErrorObject[]; // thrown by the code that `collecting` generated
  } finally {
    // Otherwise it would be retained until the next value is checked.
    collect.errors = null;
  }
};

/** A copy without ids: a schema may occur in several others, and several times in one, where Ajv accepts an id only once. */
const withoutIds = (schema: TSchema): TSchema =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) => (key === '$id' ? undefined : value)) as TSchema; // still the schema it was

const toProblem = (error: ErrorObject): SchemaProblem => ({
  path: shortened(error.instancePath, MAX_PATH),
  message: describe(error),
});

/** The start of a text that a client chose. */
const shortened = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}...` : text;

const describe = (error: ErrorObject): string => {
  const { keyword, message = 'is invalid' } = error;
  const params = error.params as Record<string, unknown>;
  if (keyword === 'additionalProperties')
    return `has an unknown field ${JSON.stringify(shortened(String(params['additionalProperty']), MAX_NAME))}`;
  if (keyword === 'format' && params['format'] === 'date-time') return MOMENT_FAULT;
  if (keyword === 'enum') return `${message}: ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue'])}`;
  return message;
};
