import { isMissing } from '@decision/values';
import { type Frame } from './frame';
import { Secret } from './secret';

/** Trace entry of one node, as clients see it. */
export interface TraceEntry {
  readonly ref: string;
  /** Enclosing subflow nodes, outermost first. */
  readonly within?: readonly string[];
  /** Indexes of the enclosing items. */
  readonly indexes?: readonly number[];
  readonly status: 'ran' | 'skipped' | 'failed';
  /** Why it was skipped: its gates were shut, or none of its sources ran; `condition`: its own condition did not hold. */
  readonly reason?: 'gate' | 'inputs' | 'condition' | 'error';
  readonly duration_ms?: number;
  /** Positions of the rule's rows that made its answer. */
  readonly matched?: readonly number[];
  /** Whether a node that reaches out was answered from a cache. */
  readonly cached?: true;
  readonly inputs?: unknown;
  readonly outputs?: unknown;
}

/** Details of a step's outcome, besides its position and status. */
export type Note = Omit<TraceEntry, 'ref' | 'within' | 'indexes' | 'status'>;

/** Maximum entries of a trace, and characters of inputs or outputs that one entry shows. */
const MAX_ENTRIES = 1_000;
const MAX_SHOWN = 2_000;

/** Records the outcome of each node (FL-90). */
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

/** A copy that fits into a trace: texts are cut, and larger parts are replaced by a description. */
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
