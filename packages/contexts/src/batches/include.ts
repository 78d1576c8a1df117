import { type BatchInclude, batchIncludes } from '@decision/contracts';

type IncludeReading =
  | { readonly ok: true; readonly fields: ReadonlySet<BatchInclude> }
  /** Names that mean no field. */
  | { readonly ok: false; readonly unknown: readonly string[] };

/** Without `include` a result has everything but what must be asked for by name. */
const USUAL: ReadonlySet<BatchInclude> = new Set(
  batchIncludes.filter((field) => field !== 'executions' && field !== 'execution_results'),
);

/** Reads the parameter `include` (C82): names of fields, separated by commas. */
export const readInclude = (text: string | undefined): IncludeReading => {
  if (text === undefined) return { ok: true, fields: USUAL };
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = batchIncludes.filter((field) => names.includes(field));
  const unknown = names.filter((name) => name !== 'instance_id' && !known.some((field) => field === name));
  return unknown.length > 0 ? { ok: false, unknown: [...new Set(unknown)] } : { ok: true, fields: new Set(known) };
};
