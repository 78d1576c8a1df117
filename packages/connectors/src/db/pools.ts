import { Pool } from 'pg';
import { ConnectorFailure } from '../connector';
import { type AddressGuard } from '../network/address-guard';
import { type DatabaseAddress } from './address';
import { GuardedSocket } from './guarded-socket';

interface PoolLimits {
  /** Connections to one database per workspace. */
  readonly maxConnections: number;
  /** Databases at once. */
  readonly maxPools: number;
}

const IDLE_MS = 10_000;
const CONNECT_MS = 10_000;

/** Connections by workspace and address. They close after 10 s without use. */
export class DatabasePools {
  private readonly pools = new Map<string, Pool>();

  constructor(
    private readonly guard: AddressGuard,
    private readonly limits: PoolLimits,
  ) {}

  /** The pool of an address. Throws a {@link ConnectorFailure} if the maximum number of pools is in use. */
  of(workspaceId: string, address: DatabaseAddress): Pool {
    const key = `${workspaceId} ${address.digest}`;
    const known = this.pools.get(key);
    // To the end: the first is the least recently used.
    this.pools.delete(key);
    const pool = known ?? this.open(address);
    this.pools.set(key, pool);
    return pool;
  }

  async stop(): Promise<void> {
    const open = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(open.map((pool) => pool.end()));
  }

  private open({ host, port, user, password, database, tls }: DatabaseAddress): Pool {
    this.makeRoom();
    const pool = new Pool({
      ...{ host, port, user, password, database },
      ssl: tls === 'none' ? false : { rejectUnauthorized: tls === 'checked' },
      stream: () => new GuardedSocket(this.guard),
      max: this.limits.maxConnections,
      idleTimeoutMillis: IDLE_MS,
      connectionTimeoutMillis: CONNECT_MS,
      allowExitOnIdle: true,
      application_name: 'decision-flows',
    });
    // The pool drops a connection that breaks while idle.
    pool.on('error', () => undefined);
    return pool;
  }

  private makeRoom(): void {
    if (this.pools.size < this.limits.maxPools) return;
    for (const [key, pool] of this.pools) {
      if (pool.totalCount > pool.idleCount || pool.waitingCount > 0) continue;
      this.pools.delete(key);
      void pool.end();
      return;
    }
    throw new ConnectorFailure(
      `${this.limits.maxPools} databases are in use at once, which is the limit; try again later, or use fewer.`,
      { outcome: 'busy' },
    );
  }
}
