import { isMissing } from '@decision/values';
import { type Frame } from './frame';
import { Secret } from './secret';

/** What became of one node. Shown to clients as it is. */
export interface TraceEntry {
  readonly ref: string;
  /** Subflow nodes around it, from the outermost on. */
  readonly within?: readonly string[];
  /** Indexes of the items around it. */
  readonly indexes?: readonly number[];
  readonly status: 'ran' | 'skipped' | 'failed';
  /** Why it was skipped: its gates were shut, or nothing that it takes ran; `condition`: it asked, and the answer was no. */
  readonly reason?: 'gate' | 'inputs' | 'condition' | 'error';
  readonly duration_ms?: number;
  /** Rows of a rule that made its answer. */
  readonly matched?: readonly number[];
  /** Whether a node that reaches out was answered from a cache. */
  readonly cached?: true;
  readonly inputs?: unknown;
  readonly outputs?: unknown;
}

/** What a step is known to have become, beside its place and status. */
export type Note = Omit<TraceEntry, 'ref' | 'within' | 'indexes' | 'status'>;

/** Entries of a trace, and characters of the inputs or outputs that one of them shows. */
const MAX_ENTRIES = 1_000;
const MAX_SHOWN = 2_000;

/** Records what becomes of each node (FL-90). */
export class Trace {
  readonly entries: TraceEntry[] = [];
  not_listed = 0;

  constructor(readonly clock: () => number) {}

  /** What outcomes show. */
  get shown(): Pick<Trace, 'entries' | 'not_listed'> {
    const { entries, not_listed } = this;
    return { entries, not_listed };
  }

  add(frame: Frame, step: { readonly ref: string }, what: Omit<TraceEntry, 'ref' | 'within' | 'indexes'>): void {
    if (this.entries.length === MAX_ENTRIES) {
      this.not_listed += 1;
      return;
    }
    const path = frame.pathOf(step);
    const { indexes } = frame;
    const { inputs, outputs, ...rest } = what;
    this.entries.push({
      ref: step.ref,
      ...(path.length > 1 ? { within: path.slice(0, -1) } : {}),
      ...(indexes.length > 0 ? { indexes } : {}),
      ...rest,
      ...(inputs === undefined ? {} : { inputs: shorten(inputs) }),
      ...(outputs === undefined ? {} : { outputs: shorten(outputs) }),
    });
  }
}

/** A copy that fits a trace: texts are cut, and what goes beyond the size is described. */
const shorten = (value: unknown): unknown => {
  let left = MAX_SHOWN;
  const copy = (part: unknown, depth: number): unknown => {
    if (part instanceof Secret) return part.toJSON();
    if (typeof part === 'string') {
      left -= part.length + 1;
      return part.length > 200 ? `${part.slice(0, 200)}...` : part;
    }
    left -= 1;
    if (typeof part !== 'object' || isMissing(part)) return part;
    if (Array.isArray(part)) {
      if (left <= 0 || depth > 10) return `[${part.length} items]`;
      const shownItems: unknown[] = [];
      for (const item of part) {
        if (left <= 0) return [...shownItems, `[${part.length - shownItems.length} more]`];
        shownItems.push(copy(item, depth + 1));
      }
      return shownItems;
    }
    if (left <= 0 || depth > 10) return '{...}';
    const entries: (readonly [string, unknown])[] = [];
    for (const [key, member] of Object.entries(part)) {
      if (left <= 0) break;
      left -= Math.min(key.length, 200);
      entries.push([key.slice(0, 200), copy(member, depth + 1)]);
    }
    return Object.fromEntries(entries);
  };
  return copy(value, 0);
};
