import { ServiceError } from '@decision/contracts';
import { archiveAnswers, ArchiveError, type ArchiveReading } from '@decision/decision-archive';
import { type DecisionFilters } from '@decision/decision-logs';
import { type Database, findReadableTraces, findSeenNames, recordChange } from '@decision/persistence';
import { type Logger } from '@decision/service-kit';
import { type DecisionStore } from './decision-store';

interface ArchiveStoreOptions {
  readonly database: Pick<Database, 'inWorkspace'>;
  readonly reading: ArchiveReading;
  /** Days that one question may span. */
  readonly maxDays: number;
  /** Moment up to which all decisions are in the archive, epoch ms; undefined: unknown. */
  readonly archivedTo: () => number | undefined;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
const RETRY_AFTER_S = 5;

/**
 * The archive as the only store: the database contains no decisions, only permissions and the audit. No transaction is open while the
 * archive is read.
 */
export const openArchiveStore = (options: ArchiveStoreOptions): DecisionStore => {
  const { database, reading, maxDays, archivedTo, now } = options;
  return {
    ask: async (access, question) => {
      const isRestricted = access.userGroups !== undefined;
      const visibility = isRestricted ? await database.inWorkspace(access, findSeenNames) : undefined;
      const answers = archiveAnswers({
        ...{ ...reading, workspaceId: access.workspaceId, visibility },
        readableTraces: (versionIds) =>
          database.inWorkspace(access, (transaction) => findReadableTraces(transaction, versionIds)),
        rangeOf: (filters) => rangeOf(filters, { maxDays, now: now() }),
      });
      try {
        return await question(answers, (change) =>
          database.inWorkspace(access, (transaction) => recordChange(transaction, change)),
        );
      } catch (error) {
        throw told(error, options);
      }
    },
    freshUntil: () => {
      const to = archivedTo();
      return to === undefined ? null : new Date(Math.min(to, now())).toISOString();
    },
  };
};

/** The requested time range: the 24 hours before `end`, or before now, if no start is given. Throws if it is too long. */
const rangeOf = (
  { start: from, end: to }: DecisionFilters,
  { maxDays, now }: { readonly maxDays: number; readonly now: number },
): { readonly start: string; readonly end: string } => {
  const end = to ?? new Date(now).toISOString();
  const start = from ?? new Date(Date.parse(end) - DAY_MS).toISOString();
  const days = (Date.parse(end) - Date.parse(start)) / DAY_MS;
  if (days <= maxDays) return { start, end };
  const message = `spans ${Math.ceil(days)} days with "end"; a question to the archive may span ${maxDays} (LOG_QUERY_MAX_DAYS). Ask for parts of that time, one after the other`;
  throw new ServiceError('invalid_request', `The parameter "start" ${message}.`, {
    problems: [{ in: 'query', path: '/start', message }],
  });
};

/** The client's error for an error of the archive. */
const told = (error: unknown, { logger }: ArchiveStoreOptions): unknown => {
  if (!(error instanceof ArchiveError)) return error;
  if (error.code === 'too_busy')
    return new ServiceError(
      'overloaded',
      `As many questions as may wait are asked of the archive already. Try again in ${RETRY_AFTER_S} s.`,
      { retry_after_seconds: RETRY_AFTER_S },
      { cause: error },
    );
  if (error.code === 'too_long')
    return new ServiceError(
      'deadline_exceeded',
      'The archive was read for as long as one question may take. Ask for less: give "start" and "end" of fewer hours.',
      {},
      { cause: error },
    );
  if (error.code === 'too_large') {
    const message =
      'makes the question read more of the archive than may be copied at once (ARCHIVE_CACHE_BYTES). Ask for a shorter time';
    return new ServiceError('invalid_request', `The parameter "start" ${message}.`, {
      problems: [{ in: 'query', path: '/start', message }],
    });
  }
  logger.error({ err: error }, 'The archive could not be read.');
  return new ServiceError(
    'archive_unavailable',
    'The archive of decisions cannot be read, or an object of that time in it. Try again later, or ask for another time; the log of the collector says what is wrong.',
    {},
    { cause: error },
  );
};
