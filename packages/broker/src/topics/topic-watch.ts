import { setTimeout as sleep } from 'node:timers/promises';
import { fixedLimits, ServiceError } from '@decision/contracts';
import type { BrokerLog } from '../settings';
import type { TopicProblem } from './topic-check';

/** Looks at topics from its start until they fit, and says in the log what does not. */
export interface TopicWatch {
  /** Problems of the last check; undefined before the broker has answered for the first time. */
  problems(): readonly TopicProblem[] | undefined;
  /** Idempotent. */
  stop(): Promise<void>;
}

interface TopicWatchOptions {
  readonly check: () => Promise<readonly TopicProblem[]>;
  readonly log: BrokerLog;
  /** Between two looks, ms. Default: as often as metadata is refreshed. */
  readonly everyMs?: number;
}

/** Begins at once. A problem is said once, and its end too; a broker that does not answer is asked again. */
export const watchTopics = ({ check, log, everyMs = fixedLimits.metadataRefreshMs }: TopicWatchOptions): TopicWatch => {
  const stopping = new AbortController();
  let found: readonly TopicProblem[] | undefined;
  let toldOfFailure = false;

  const look = async (): Promise<void> => {
    try {
      const problems = await check();
      tellNews(log, found ?? [], problems);
      found = problems;
    } catch (error) {
      if (!toldOfFailure) log.warn({ reason: sentenceOf(error) }, 'The topics could not be checked yet');
      toldOfFailure = true;
    }
  };
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await look();
      if (found?.length === 0) return;
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const watching = watch();
  return {
    problems: () => found,
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
};

const tellNews = (log: BrokerLog, before: readonly TopicProblem[], now: readonly TopicProblem[]): void => {
  const told = new Set(before.map(({ problem }) => problem));
  for (const { name, kind, isWarning, problem } of now)
    if (!told.has(problem)) log[isWarning ? 'warn' : 'error']({ topic: name, kind }, problem);
  if (before.length > 0 && now.length === 0) log.info({}, 'The topics fit now.');
};

const sentenceOf = (error: unknown): string => (error instanceof ServiceError ? error.message : 'an unexpected fault');
