import { compactDay, expireDays, signDay } from '@decision/decision-archive';
import { type Logger, type Metrics, type Stopper } from '@decision/service-kit';
import { pause } from '@decision/waiting';
import { type CollectorConfig } from '../config';
import { type OpenedArchive } from './open-archive';
import { openTools } from './open-tools';

interface StartUpkeepOptions {
  readonly config: Pick<
    CollectorConfig,
    | 'archiveUpkeepMs'
    | 'archiveCompactBytes'
    | 'archiveRetentionDays'
    | 'archiveSigningKey'
    | 'archiveMemoryBytes'
    | 'archiveCacheBytes'
  >;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

const DAY_MS = 86_400_000;
/** Days before yesterday that are checked, one per round, since decisions may arrive late. */
const OLDER_DAYS = 60;
/**
 * Runs upkeep of the archive until the service stops: merges small objects, removes expired days, and signs days that have ended. Rejects
 * with `StartRefusal` if the key cannot be used.
 */
export const startArchiveUpkeep = async (
  opened: OpenedArchive,
  { config, logger, metrics, stopper }: StartUpkeepOptions,
): Promise<void> => {
  const { tools, stop } = await openTools(opened, config);
  const { store, signer } = tools;
  const observer = observeUpkeep(metrics, logger);
  const ending = new AbortController();
  const { archiveCompactBytes: targetBytes, archiveRetentionDays: retentionDays } = config;

  const compact = async (date: string): Promise<void> => {
    for (const folder of await store.folders('decisions/')) {
      const [, workspaceId] = /^workspace=([0-9a-f-]{36})$/.exec(folder) ?? [];
      if (workspaceId === undefined || ending.signal.aborted) continue;
      await observer.observe('compaction', async () => {
        const { made, replaced, removed } = await compactDay({ ...tools, workspaceId, date, targetBytes });
        observer.compacted({ made, replaced, removed });
      });
    }
  };
  const run = async (): Promise<void> => {
    for (let round = 0; !ending.signal.aborted; round += 1) {
      const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
      for (const days of [0, 1, 2 + (round % OLDER_DAYS)]) await observer.observe('list', () => compact(daysAgo(days)));
      if (retentionDays !== undefined)
        await observer.observe('retention', async () => {
          const { dates, objects } = await expireDays({ store, retentionDays, now: Date.now });
          observer.expired(dates, objects);
        });
      if (signer !== undefined)
        await observer.observe('signing', async () => {
          const signed = await signDay({ store, signer, now: Date.now });
          if (signed !== undefined) observer.signed(signed);
        });
      await pause(config.archiveUpkeepMs, ending.signal);
    }
  };
  const running = run();
  stopper.add('upkeep of the archive', async () => {
    ending.abort();
    await tools.engine.stop();
    await running;
    await stop();
  });
};

/** Counts the results of upkeep, and logs its failures. */
const observeUpkeep = (metrics: Metrics, logger: Logger) => {
  const objects = metrics.counter({
    name: 'decision_archive_upkeep_objects_total',
    help: 'Objects that compaction made, that were replaced by them, and removed, and that were expired or signed.',
    labelNames: ['outcome'],
  });
  const failures = metrics.counter({
    name: 'decision_archive_upkeep_failures_total',
    help: 'Steps of upkeep that failed; the next round tries again.',
    labelNames: ['step'],
  });
  return {
    /** Never rejects. */
    observe: async (
      step: 'compaction' | 'list' | 'retention' | 'signing',
      work: () => Promise<void>,
    ): Promise<void> => {
      try {
        await work();
      } catch (error) {
        failures.inc({ step });
        logger.warn({ err: error, step }, 'Upkeep of the archive failed; the next round tries again.');
      }
    },
    compacted: (counts: Readonly<Record<'made' | 'replaced' | 'removed', number>>): void => {
      for (const outcome of ['made', 'replaced', 'removed'] as const) objects.inc({ outcome }, counts[outcome]);
    },
    signed: ({ missing, ...day }: NonNullable<Awaited<ReturnType<typeof signDay>>>): void => {
      objects.inc({ outcome: 'signed' }, day.objects);
      logger.info({ ...day, missing }, 'A manifest of what was archived was signed.');
      if (missing > 0)
        logger.warn({ date: day.date, missing }, 'Messages were never archived; the manifest says which.');
    },
    expired: (dates: readonly string[], removed: number): void => {
      objects.inc({ outcome: 'expired' }, removed);
      if (removed > 0)
        logger.info({ dates, objects: removed }, 'Days of the archive that are no longer kept were removed.');
    },
  };
};
