import { type DecisionGroupSums, type DecisionSummary, type SummariseDecisionsQuery } from '@decision/contracts';
import {
  type DecisionAnswers,
  type DecisionFilters,
  type DecisionGroup,
  type DecisionSums,
  type SummaryBucket,
  type SummaryDimension,
} from '@decision/decision-logs';
import { readPageQuery } from '@decision/service-kit';
import { readFilters } from './read-query';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Decisions within this time before the moment up to which all are stored may still be in flight, ms. */
const SETTLES_MS = 2 * MINUTE_MS;
/** A producer reports its count every five minutes; one that is silent for this long has ended, ms. */
const SILENT_MS = 15 * MINUTE_MS;
const MOST_MISSING = 1_000;

/** A requested summary. */
interface SummaryQuery {
  readonly filters: DecisionFilters & { readonly start: string; readonly end: string };
  readonly by: readonly SummaryDimension[];
  readonly bucket: SummaryBucket;
  readonly limit: number;
}

/** Parses the request of a summary: the 24 hours before `end`, or before now, if no start is given. Throws as `readDecisionQuery` does. */
export const readSummaryQuery = (query: SummariseDecisionsQuery, now: number): SummaryQuery => {
  const { by = 'asset', bucket = 'hour', limit: asked, ...parameters } = query;
  const end = parameters.end ?? new Date(now).toISOString();
  const start = parameters.start ?? new Date(Date.parse(end) - DAY_MS).toISOString();
  const { limit } = readPageQuery({ ...(asked === undefined ? {} : { limit: asked }) });
  const filters = readFilters({ ...parameters, start, end });
  return {
    filters: { ...filters, start: filters.start ?? start, end: filters.end ?? end },
    by: by.split(',') as SummaryDimension[], // by its pattern
    ...{ bucket, limit },
  };
};

interface SummaryOptions {
  /** Whether the access is unrestricted: only then are missing messages reported. */
  readonly seesAll: boolean;
  /** Epoch ms. */
  readonly now: number;
  /** Moment up to which all decisions have been stored, epoch ms; undefined: unknown. */
  readonly collectedTo: number | undefined;
  readonly retentionDays: number;
}

/** Computes a summary. */
export const summarise = async (
  answers: DecisionAnswers,
  { filters, by, bucket, limit }: SummaryQuery,
  options: SummaryOptions,
): Promise<DecisionSummary> => {
  const { start, end } = filters;
  const { total, groups } = await answers.summarise(filters, { by, bucket, most: limit + 1 });
  return {
    ...{ start, end, total: toSums(total), groups: groups.slice(0, limit).map(toGroup) },
    is_complete: groups.length <= limit,
    ...(options.seesAll ? await missingOf(answers, { start, end }, options) : {}),
  };
};

const missingOf = async (
  answers: DecisionAnswers,
  range: { readonly start: string; readonly end: string },
  { now, collectedTo, retentionDays }: SummaryOptions,
): Promise<Required<Pick<DecisionSummary, 'missing' | 'missing_until'>>> => {
  if (collectedTo === undefined) return { missing: [], missing_until: null };
  const at = (ms: number): string => new Date(ms).toISOString();
  const known = Math.min(now, collectedTo);
  const settledBefore = at(known - SETTLES_MS);
  const missing = await answers.findMissing({
    ...{ ...range, settledBefore, silentBefore: at(known - SILENT_MS), most: MOST_MISSING },
    // A day later than the oldest kept one, since rows of the oldest day are being removed.
    knownFrom: `${at(now - (retentionDays - 2) * DAY_MS).slice(0, 10)}T00:00:00Z`,
  });
  return { missing: [...missing], missing_until: settledBefore };
};

const toGroup = ({ kind, slug, assetId, versionId, status, time, ...sums }: DecisionGroup): DecisionGroupSums => ({
  ...(kind === undefined ? {} : { type: kind }),
  ...(slug === undefined ? {} : { name: slug }),
  ...((assetId ?? null) === null ? {} : { asset_id: assetId as string }), // not null, as checked above
  ...((versionId ?? '') === '' ? {} : { version_id: versionId }), // likewise
  ...(status === undefined ? {} : { status }),
  ...(time === undefined ? {} : { time }),
  ...toSums(sums),
});

const toSums = ({ count, errors, durationsUs }: DecisionSums) => {
  if (durationsUs === null) return { count, errors, duration_ms: null };
  const [p50, p90, p95, p99, max] = durationsUs;
  const ms = (us: number): number => us / 1_000;
  return { count, errors, duration_ms: { p50: ms(p50), p90: ms(p90), p95: ms(p95), p99: ms(p99), max: ms(max) } };
};
