import { type AssetKind } from '@decision/contracts';
import { type DecisionRecord } from './records';
import { type Search } from './search/syntax-tree';

/** Filters of decisions; an absent filter lets everything through. All apply to single items. */
export interface DecisionFilters {
  readonly search?: Search | undefined;
  /** Slugs or ids of rules, and of flows; if both are given, either may match. */
  readonly rules?: readonly string[] | undefined;
  readonly flows?: readonly string[] | undefined;
  /** Slugs of contexts. */
  readonly contexts?: readonly string[] | undefined;
  /** Trace ids, 32 hex digits. */
  readonly trace?: string | undefined;
  /** HTTP statuses. */
  readonly statuses?: readonly number[] | undefined;
  /** ISO 8601; from this moment, inclusive. */
  readonly start?: string | undefined;
  /** ISO 8601; up to this moment, exclusive. */
  readonly end?: string | undefined;
  /** Additional condition that items of lists must meet to be shown. */
  readonly items?: Search | undefined;
}

export type DecisionSort = 'time' | 'name' | 'status' | 'type';

/** Where a page of decisions ends. */
export interface DecisionPosition {
  readonly id: string;
  /** The value it is sorted by; null if that is the time, which the id contains. */
  readonly key: string | number | null;
}

export interface DecisionOrder {
  readonly sort: DecisionSort;
  readonly isDescending: boolean;
  /** Position after which decisions are wanted. */
  readonly after: DecisionPosition | undefined;
  /** Maximum number of decisions. */
  readonly limit: number;
}

/** A decision that was found; a list counts as one. */
export interface FoundDecision extends DecisionPosition {
  readonly decidedAt: string;
  /** Characters to show of it. */
  readonly characters: number;
}

/** Members of a decision that every reader sees as they are stored. */
export type DecisionMembers = Omit<
  DecisionRecord,
  'workspaceId' | 'worker' | 'pathTrace' | 'request' | 'response' | 'isCut' | 'isAltered'
>;

/** One item of a decision. The context, the instance and the flow are also null if the access does not see them. */
export interface DecisionItemRecord extends DecisionMembers {
  readonly id: string;
  /** A JSON value; null for a rule, if it was not requested, and if it says more than the access may see. */
  readonly pathTrace: unknown;
  /** A JSON value, as is the response. */
  readonly request: unknown;
  readonly response: unknown;
  /** Whether something was cut, or replaced because it cannot be stored. */
  readonly isAltered: boolean;
  /** Whether the item itself passes the filters. */
  readonly passes: boolean;
  /** Number of items to show; more than are here if they exceed what is read at once. */
  readonly shownItems: number;
}

/** Dimensions that a summary may be split by. */
export type SummaryDimension = 'asset' | 'version' | 'status' | 'time';
export type SummaryBucket = 'minute' | 'hour' | 'day';

/** Counts and durations of inputs. */
export interface DecisionSums {
  /** Inputs that were decided or refused; a record that stands for several counts that many times. */
  readonly count: number;
  /** Of these, those whose status is 400 or more. */
  readonly errors: number;
  /** Evaluation times in microseconds: percentiles 50, 90, 95 and 99, and the maximum; null if nothing was evaluated. */
  readonly durationsUs: readonly [number, number, number, number, number] | null;
}

/** Sums of inputs with the same values in all requested dimensions; other dimensions are undefined. */
export interface DecisionGroup extends DecisionSums {
  readonly kind: AssetKind | undefined;
  readonly slug: string | undefined;
  /** Null if the asset was gone when the record arrived. */
  readonly assetId: string | null | undefined;
  /** Empty if the request was refused before a version was chosen. */
  readonly versionId: string | undefined;
  readonly status: number | undefined;
  /** Start of the bucket, ISO 8601. */
  readonly time: string | undefined;
}

/** How a summary is split. */
export interface SummarySplit {
  readonly by: readonly SummaryDimension[];
  readonly bucket: SummaryBucket;
  /** Maximum number of groups: those with the highest counts, or with time as a dimension the latest. */
  readonly most: number;
}

/** Messages of a producer that have not arrived. */
export interface MissingMessages {
  readonly producer: string;
  /** Number of the first of them. */
  readonly from: number;
  /** Their number; null if the producer ended without reporting how far it had counted, so that none may be missing. */
  readonly count: number | null;
  /**
   * They were decided between the start of the minute `after` and the end of the minute `before`. ISO 8601. `before` is null if nothing
   * came after them.
   */
  readonly after: string;
  readonly before: string | null;
}

/** Selects missing messages. */
export interface MissingOptions {
  /** ISO 8601: messages that may have been decided from `start`, inclusive, to `end`, exclusive. */
  readonly start: string;
  readonly end: string;
  /** Time from which all arrivals are known, ISO 8601. */
  readonly knownFrom: string;
  /** ISO 8601: later decisions may still arrive. */
  readonly settledBefore: string;
  /** ISO 8601: a producer that has been silent since then has ended. */
  readonly silentBefore: string;
  readonly most: number;
}

/** Decisions in the requested order, and their items. */
export interface DecisionPage {
  readonly shown: readonly FoundDecision[];
  /** Items of the shown decisions, in the order of their positions. */
  readonly items: readonly DecisionItemRecord[];
  /** Whether no further decision was found. */
  readonly isLast: boolean;
}

/** What to read of decisions. */
interface Reading {
  readonly withTraces: boolean;
  /** Maximum characters of all items together; the first item of each decision is read regardless of size. */
  readonly characters: number;
}

/** Answers questions about the decisions that one access sees. */
export interface DecisionAnswers {
  /** Number of decisions with an item that passes the filters; a list counts once. */
  count(filters: DecisionFilters): Promise<number>;
  /** Reads the items of given decisions, in the order of their positions. */
  read(
    found: readonly FoundDecision[],
    filters: DecisionFilters,
    reading: Reading,
  ): Promise<readonly DecisionItemRecord[]>;
  /**
   * Finds decisions with an item that passes the filters, and reads them. Ties are ordered by time, then by id. The page ends at the limit,
   * or before the decision that would exceed `pageCharacters`; it has at least one decision if any is found.
   */
  readPage(
    filters: DecisionFilters,
    order: DecisionOrder,
    reading: Reading & { readonly pageCharacters: number },
  ): Promise<DecisionPage>;
  /** The decision with an id, if it exists. */
  findOne(id: string): Promise<FoundDecision | undefined>;
  /** Sums up the inputs that pass the filters, in total and by group, the latest and largest first. */
  summarise(
    filters: DecisionFilters,
    split: SummarySplit,
  ): Promise<{ readonly total: DecisionSums; readonly groups: readonly DecisionGroup[] }>;
  /** Messages that have not arrived, newest first. */
  findMissing(options: MissingOptions): Promise<readonly MissingMessages[]>;
}
