import { type Database, renewLease, type WorkspaceAccess } from '@decision/persistence';

interface LeaseSettings {
  readonly database: Database;
  readonly access: WorkspaceAccess;
  readonly operationId: string;
  /** Time without a renewal after which other processes take over the operation, ms. */
  readonly leaseMs: number;
}

/** The lease of an operation that this process admits and holds. */
export class OperationLease {
  private timer: NodeJS.Timeout | undefined;
  /** When the latest renewal that succeeded was sent, or the admission was begun. */
  private from = now();

  constructor(private readonly settings: LeaseSettings) {}

  /**
   * Whether nobody can have taken over the operation yet. A clock of the system that was set forward, or a machine that slept, may make the
   * answer false too early.
   */
  get isHeld(): boolean {
    const { elapsed, system } = now();
    return Math.max(elapsed - this.from.elapsed, system - this.from.system) < this.settings.leaseMs;
  }

  /** Renews it until {@link stop}. */
  keep(): void {
    this.timer = setInterval(() => void this.renew(), this.settings.leaseMs / 3);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async renew(): Promise<void> {
    const { database, access, operationId, leaseMs } = this.settings;
    const sent = now();
    try {
      const isRenewed = await database.inWorkspace(access, (transaction) =>
        renewLease(transaction, { operationId, takeovers: 0 }, leaseMs),
      );
      if (isRenewed) this.from = sent;
    } catch {
      // The lease expires, and another process takes over the operation.
    }
  }
}

/** By the clock that only runs forward, and by the one that also counts while the machine sleeps, ms. */
const now = () => ({ elapsed: performance.now(), system: Date.now() });
