import { ConnectorFailure } from '../connector';

interface CircuitOptions {
  /** Consecutive failures before a circuit opens. */
  readonly failures: number;
  /** How long it stays open before one call may probe the target, ms. */
  readonly openMs: number;
  /** Targets that are remembered; the least recently used is forgotten first. */
  readonly maxTargets: number;
  /** Milliseconds; never goes back. */
  readonly clock: () => number;
}

interface Circuit {
  failures: number;
  /** Undefined while it is closed. */
  openUntil: number | undefined;
  isProbed: boolean;
}

/** Finding of a call about its target: it answers, it does not, or nothing is known. */
export type Verdict = 'answers' | 'fails' | 'unknown';

/**
 * Circuit breakers of targets. A circuit is closed at first. Several consecutive failures that blame the target open it, and then calls are
 * refused at once. When its time is over, one call probes the target: success closes the circuit, failure opens it again.
 */
export class Circuits {
  private readonly circuits = new Map<string, Circuit>();

  constructor(private readonly options: CircuitOptions) {}

  /** Admits a call to a target; returns a function that reports the outcome. `name` appears in the error. */
  enter(key: string, name: string): (verdict: Verdict) => void {
    const { clock, failures } = this.options;
    const circuit = this.circuits.get(key);
    if (circuit?.openUntil !== undefined) {
      const leftMs = circuit.openUntil - clock();
      if (leftMs > 0 || circuit.isProbed) {
        const next = leftMs > 0 ? `in ${Math.ceil(leftMs / 1_000)} s` : 'as soon as the call that tries it succeeds';
        throw new ConnectorFailure(
          `${name} is not asked: its last ${failures} calls failed, and the next one is made ${next}.`,
          { outcome: 'circuit_open' },
        );
      }
      circuit.isProbed = true;
    }
    return (verdict) => this.settle(key, verdict);
  }

  /** Targets whose circuit is open. */
  get open(): number {
    return [...this.circuits.values()].filter(({ openUntil }) => openUntil !== undefined).length;
  }

  private settle(key: string, verdict: Verdict): void {
    const { clock, failures, openMs } = this.options;
    if (verdict === 'answers') {
      this.circuits.delete(key);
      return;
    }
    const circuit = this.circuits.get(key) ?? { failures: 0, openUntil: undefined, isProbed: false };
    const wasProbed = circuit.isProbed;
    circuit.isProbed = false;
    if (verdict === 'unknown') return;
    circuit.failures += 1;
    if (wasProbed || circuit.failures >= failures) circuit.openUntil = clock() + openMs;
    this.remember(key, circuit);
  }

  private remember(key: string, circuit: Circuit): void {
    this.circuits.delete(key);
    this.circuits.set(key, circuit);
    const [oldest] = this.circuits.keys();
    if (this.circuits.size > this.options.maxTargets && oldest !== undefined) this.circuits.delete(oldest);
  }
}
