import { type SettledInstance } from '@decision/contracts';
import {
  addNotifications,
  endRegistrations,
  findOperation,
  type HeldInstances,
  type HistoryAddition,
  type LinkWrite,
  together,
  type Transaction,
  writeBackInstances,
  writeLinks,
  type WrittenInstance,
} from '@decision/persistence';
import { type ContextDirectory, type ContextInUse } from '../definitions/context-directory';
import { type HeldInstance, ttlOf } from './admit';
import { UnknownCommit } from './commit-writes';
import { historyOfChanges, linksOfChanges, writeHistory } from './facts-changes';
import { DefinitionChanged, hasSameFacts, holdDefinition } from './hold-definition';
import { type OperationLease } from './operation-lease';
import { outcomeOfWriteBack } from './operation-outcome';
import { type InstanceOutcome, type Work } from './work';

/** Result of an operation for an instance that it holds. */
export interface SettledHeld {
  readonly held: HeldInstance;
  readonly settled: SettledInstance;
  readonly outcome: InstanceOutcome;
}

export interface WriteBackOptions {
  readonly directory: ContextDirectory;
  readonly operationId: string;
  readonly lease: Pick<OperationLease, 'lasted'>;
}

/** The definition may have changed since; either nothing was written by the one of before, or the transaction is not committed. */
export class WrittenAsBefore extends Error {
  override readonly name = 'WrittenAsBefore';
}

/** A row whose result is stored. */
export type BackRow = Pick<WrittenInstance, 'instanceId' | 'expiresAt'>;

/** Result of an attempt. */
interface Back {
  /** By this definition. */
  readonly context: ContextInUse;
  /** The instances whose results are stored. */
  readonly rows: readonly BackRow[];
  /** Those that the transaction of this attempt wrote. */
  readonly written: readonly WrittenInstance[];
}

/** The write-back of an operation. Each attempt is a transaction; the first, in which nearly all succeed, is the shortest. */
export class WriteBack {
  /** Whether the definition is read, and held, before anything is sent. */
  private holdsFirst = false;
  /** Whether an attempt that was not answered may have committed. */
  private mayBeWritten = false;

  constructor(
    private readonly options: WriteBackOptions,
    private readonly work: Work,
    private readonly settledHeld: readonly SettledHeld[],
  ) {}

  async attempt(transaction: Transaction): Promise<Back> {
    if (this.holdsFirst || this.mayBeWritten || hasConsequences(this.work, this.settledHeld))
      return this.writeAndFollow(transaction);
    this.mayBeWritten = true;
    const rows = await this.writeAndCommit(transaction);
    this.mayBeWritten = false;
    if (rows !== undefined) return { context: this.work.context, rows, written: rows };
    this.holdsFirst = true;
    throw new WrittenAsBefore();
  }

  /** In one message; undefined if nothing was written: the definition changed, or another process took over. Another attempt tells which. */
  private async writeAndCommit(transaction: Transaction): Promise<readonly WrittenInstance[] | undefined> {
    const { context } = this.work;
    const rows = await this.write(transaction, context, context.revision);
    return rows.length === this.settledHeld.length ? rows : undefined;
  }

  private async writeAndFollow(transaction: Transaction): Promise<Back> {
    const { context, written } = await (this.holdsFirst
      ? this.afterHolding(transaction)
      : this.whileHolding(transaction));
    if (written.length === 0 && this.mayBeWritten)
      return { context, rows: await this.findWritten(transaction), written };
    await writeConsequences(transaction, { ...this.work, context }, this.settledHeld, written);
    return { context, rows: written, written };
  }

  /** In one message: the definition is almost always unchanged. */
  private async whileHolding(transaction: Transaction): Promise<Omit<Back, 'rows'>> {
    const before = this.work.context;
    const [context, written] = await together(this.hold(transaction), this.write(transaction, before));
    if (context === before) return { context, written };
    this.holdsFirst = true;
    throw new WrittenAsBefore();
  }

  private async afterHolding(transaction: Transaction): Promise<Omit<Back, 'rows'>> {
    const context = await this.hold(transaction);
    return { context, written: await this.write(transaction, context) };
  }

  private async hold(transaction: Transaction): Promise<ContextInUse> {
    const context = await holdDefinition(transaction, this.options.directory, this.work);
    if (!hasSameFacts(context, this.work.context)) throw new DefinitionChanged(context);
    return context;
  }

  private write(
    transaction: Transaction,
    context: ContextInUse,
    commitsAt?: string,
  ): Promise<readonly WrittenInstance[]> {
    const held: HeldInstances = { operationId: this.options.operationId, takeovers: 0, fences: this.fences };
    const writes = this.settledHeld.map(({ held: one, settled, outcome }) => ({
      instanceId: idOf(one),
      facts: settled.facts,
      derived: outcome.resolved.derived,
      executions: settled.executions,
      isNew: false,
    }));
    const ttlSeconds = ttlOf({ ...this.work, context });
    return writeBackInstances(transaction, writes, { contextId: context.id, ttlSeconds, held, commitsAt });
  }

  private get fences(): ReadonlyMap<string, number> {
    return new Map(this.settledHeld.map(({ held }) => [idOf(held), held.fence]));
  }

  /** The rows that an attempt without an answer wrote; none if another process has taken the operation over. */
  private async findWritten(transaction: Transaction): Promise<readonly BackRow[]> {
    const { operationId, lease } = this.options;
    const versions = new Map(this.settledHeld.map(({ held }) => [idOf(held), held.version]));
    const instanceIds = [...versions.keys()];
    const found = await findOperation(transaction, { contextId: this.work.context.id, operationId, instanceIds });
    const outcome = outcomeOfWriteBack(found, {
      versions,
      fences: this.fences,
      isLeaseHeld: lease.lasted(found.foundAt),
    });
    if (outcome === 'unknown') throw new UnknownCommit(instanceIds, undefined);
    return outcome === 'written' ? found.instances : [];
  }
}

/** What is stored together with the results of instances. */
interface Consequences {
  readonly history: readonly HistoryAddition[];
  readonly links: readonly LinkWrite[];
  readonly ended: Parameters<typeof endRegistrations>[2];
  readonly notifications: Parameters<typeof addNotifications>[1];
}

const consequencesOf = ({ context, origin }: Work, settledHeld: readonly SettledHeld[]): Consequences => {
  const changes = settledHeld.map(({ held, settled }) => ({
    instanceId: idOf(held),
    before: held.planned.facts,
    after: settled.facts,
  }));
  return {
    history: historyOfChanges(context, changes, origin.now),
    links: linksOfChanges(context, changes),
    ended: settledHeld.flatMap(endedRegistrations),
    notifications: settledHeld.flatMap(({ settled }) => settled.notifications ?? []),
  };
};

const hasConsequences = (work: Work, settledHeld: readonly SettledHeld[]): boolean =>
  settledHeld.some((one) =>
    Object.values(consequencesOf(work, [one])).some((entries: readonly unknown[]) => entries.length > 0),
  );

/** Writes the consequences of the written rows; rows that other processes had taken over are left to those. */
const writeConsequences = async (
  transaction: Transaction,
  work: Work,
  settledHeld: readonly SettledHeld[],
  written: readonly WrittenInstance[],
): Promise<void> => {
  const { context } = work;
  const ids = new Set(written.map(({ instanceId }) => instanceId));
  const mine = settledHeld.filter(({ held }) => ids.has(idOf(held)));
  const { history, links, ended, notifications } = consequencesOf(work, mine);
  await together(
    writeHistory(transaction, context, history),
    writeLinks(transaction, context.id, links),
    endRegistrations(transaction, context.id, ended),
    addNotifications(transaction, notifications),
  );
};

/** Id of the instance. */
export const idOf = ({ planned }: HeldInstance): string => planned.locked.instanceId;

/**
 * Registered evaluations that are settled: those that ran, with any result, and those with nothing new to evaluate. While the instance is
 * busy nobody registers another.
 */
const endedRegistrations = ({ held, settled }: SettledHeld) =>
  (held.planned.hasRegistered || held.planned.registers ? settled.runs : [])
    .filter(({ status }) => status === 'success' || status === 'evaluation_error' || status === 'skipped_already_run')
    .map(({ type, slug }) => ({ instanceId: idOf(held), type, slug }));
