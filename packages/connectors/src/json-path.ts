import { isPlainObject } from '@decision/values';
import { ConnectorFailure } from './connector';

/** A member, an index, or all elements. */
type Step = { readonly member: string } | { readonly index: number } | 'all';

/** One step: `.name`, `.*`, `['name']`, `["name"]`, `[0]`, `[-1]` or `[*]`. */
const STEP = /\.([^.[\]]+)|\[(?:'([^']*)'|"([^"]*)"|(-?\d{1,9})|(\*))\]/y;

/**
 * Reads what a JSON path names: `$`, then members, indexes (from the end where negative) and `*`, which makes a list of all matches. The
 * `$` may be left out. Undefined if nothing matches. Throws a {@link ConnectorFailure} for a path in another form.
 */
export const readJsonPath = (value: unknown, path: string): unknown => {
  const steps = stepsOf(path);
  let found: readonly unknown[] = [value];
  for (const step of steps) found = found.flatMap((one) => stepInto(one, step));
  return steps.includes('all') ? found : found[0];
};

const stepsOf = (path: string): readonly Step[] => {
  const rest = path.startsWith('$') ? path.slice(1) : path.startsWith('[') ? path : `.${path}`;
  const steps: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < rest.length) {
    const at = STEP.lastIndex;
    const [, name, single, double, index, star] = STEP.exec(rest) ?? [];
    if (STEP.lastIndex <= at) throw unreadable(path);
    if (index !== undefined) steps.push({ index: Number(index) });
    else if (star !== undefined || name === '*') steps.push('all');
    else steps.push({ member: name ?? single ?? double ?? '' });
  }
  return steps;
};

const unreadable = (path: string): ConnectorFailure =>
  new ConnectorFailure(
    `The JSON path ${JSON.stringify(path.slice(0, 100))} cannot be read; write it like $.items[0].name or $.items[*].name.`,
    { outcome: 'invalid', details: { field: 'jsonPaths' } },
  );

const stepInto = (value: unknown, step: Step): readonly unknown[] => {
  if (step === 'all') return Array.isArray(value) ? value : isPlainObject(value) ? Object.values(value) : [];
  if ('member' in step) return isPlainObject(value) && Object.hasOwn(value, step.member) ? [value[step.member]] : [];
  const item: unknown = Array.isArray(value) ? value.at(step.index) : undefined;
  return item === undefined ? [] : [item];
};
