import { type Database, renewLease, type WorkspaceAccess } from '@decision/persistence';

interface LeaseSettings {
  readonly database: Database;
  readonly access: WorkspaceAccess;
  readonly operationId: string;
  /** Time without a renewal after which other processes take over the operation, ms. */
  readonly leaseMs: number;
}

/** The lease of an operation that this process holds. All times are by the clock of the database, which alone judges leases (C146). */
export class OperationLease {
  private timer: NodeJS.Timeout | undefined;
  /** Until when nobody takes over the operation at least, epoch ms. */
  private until: number;

  constructor(
    private readonly settings: LeaseSettings,
    /** A time before the operation was admitted, ISO 8601. */
    before: string,
  ) {
    this.until = leaseFrom(before, settings.leaseMs);
  }

  /** Whether nobody can have taken over the operation by a time, ISO 8601. */
  lasted(time: string): boolean {
    return Date.parse(time) < this.until;
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
    try {
      const until = await database.inWorkspace(access, (transaction) =>
        renewLease(transaction, { operationId, takeovers: 0 }, leaseMs),
      );
      if (until !== undefined) this.until = Date.parse(until);
    } catch {
      // The lease expires, and another process takes over the operation.
    }
  }
}

/** Until when a lease lasts at least that was given after a time, ISO 8601; epoch ms. */
export const leaseFrom = (time: string, leaseMs: number): number => Date.parse(time) + leaseMs;
