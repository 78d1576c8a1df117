/** How a command that was sent ended: answered in time (an error too), silent past its deadline, or cut off. */
type CircuitVerdict = 'answered' | 'silent' | 'lost';

export type CircuitState = 'open' | 'closed';

/**
 * Spares readers the wait for a silent cache.
 *
 * | state   | admits          | answered | silent                                | lost     |
 * |---------|-----------------|----------|---------------------------------------|----------|
 * | closed  | everything      | closed   | third in a row: open for `openMs`     | closed   |
 * | open    | nothing, until its time has passed: then one probe | closed | open | open     |
 * | probing | nothing         | closed   | open, twice as long, at most 5 x `openMs` | open again |
 */
export interface Circuit {
  /** Whether a command may be sent now. Each true must be followed by one `record`: it may have admitted the only probe. */
  admits(now: number): boolean;
  record(verdict: CircuitVerdict, now: number): void;
  /** A new connection has proved itself: start over. */
  reset(): void;
}

interface CircuitOptions {
  readonly openMs: number;
  readonly onChange: (state: CircuitState) => void;
}

type State =
  | { readonly kind: 'closed'; readonly silences: number }
  | { readonly kind: 'open'; readonly until: number; readonly openMs: number }
  | { readonly kind: 'probing'; readonly openMs: number };

const SILENCES_TO_OPEN = 3;
const LONGEST_FACTOR = 5;
const CLOSED: State = { kind: 'closed', silences: 0 };

export const createCircuit = ({ openMs, onChange }: CircuitOptions): Circuit => {
  let state: State = CLOSED;
  const become = (next: State): void => {
    const before = stateOf(state);
    state = next;
    if (stateOf(next) !== before) onChange(stateOf(next));
  };
  const open = (now: number, forMs: number): void => become({ kind: 'open', until: now + forMs, openMs: forMs });

  const onSilence = (now: number): void => {
    if (state.kind === 'probing') open(now, Math.min(state.openMs * 2, openMs * LONGEST_FACTOR));
    if (state.kind !== 'closed') return;
    if (state.silences + 1 >= SILENCES_TO_OPEN) open(now, openMs);
    else become({ kind: 'closed', silences: state.silences + 1 });
  };

  return {
    admits: (now) => {
      if (state.kind === 'closed') return true;
      if (state.kind === 'probing' || now < state.until) return false;
      become({ kind: 'probing', openMs: state.openMs });
      return true;
    },
    record: (verdict, now) => {
      if (verdict === 'answered') become(CLOSED);
      else if (verdict === 'silent') onSilence(now);
      else if (state.kind === 'probing') open(now, state.openMs);
    },
    reset: () => become(CLOSED),
  };
};

const stateOf = (state: State): CircuitState => (state.kind === 'closed' ? 'closed' : 'open');
