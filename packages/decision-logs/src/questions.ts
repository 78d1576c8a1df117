import { type AssetKind } from '@decision/contracts';
import { type Search } from './search/syntax-tree';

/** Which decisions are wanted; absent filters let everything through. All are asked of single items. */
export interface DecisionFilters {
  readonly search?: Search | undefined;
  /** Slugs or ids of rules, and of flows; where both are given, either does. */
  readonly rules?: readonly string[] | undefined;
  readonly flows?: readonly string[] | undefined;
  /** Slugs of contexts. */
  readonly contexts?: readonly string[] | undefined;
  /** Trace ids, 32 hex digits. */
  readonly trace?: string | undefined;
  /** HTTP statuses. */
  readonly statuses?: readonly number[] | undefined;
  /** ISO 8601; from this moment on. */
  readonly start?: string | undefined;
  /** ISO 8601; before this moment. */
  readonly end?: string | undefined;
  /** What items of lists must fulfil beside to be shown. */
  readonly items?: Search | undefined;
}

export type DecisionSort = 'time' | 'name' | 'status' | 'type';

/** Where a page of decisions ends. */
export interface DecisionPosition {
  readonly id: string;
  /** What it is sorted by; null where that is the time, which the id has. */
  readonly key: string | number | null;
}

export interface DecisionOrder {
  readonly sort: DecisionSort;
  readonly isDescending: boolean;
  /** Decisions behind this one are wanted. */
  readonly after: DecisionPosition | undefined;
  /** At most so many. */
  readonly limit: number;
}

/** A decision that was found, a list as one. */
export interface FoundDecision extends DecisionPosition {
  readonly decidedAt: string;
  /** Of what is to be shown of it. */
  readonly characters: number;
}

/** One item of a decision. Request, response and trace are JSON values. */
export interface DecisionItemRecord {
  readonly id: string;
  readonly decidedAt: string;
  readonly messageId: string;
  readonly item: number;
  readonly isOfList: boolean;
  readonly assetId: string | null;
  readonly kind: AssetKind;
  readonly slug: string;
  readonly selector: string;
  readonly versionId: string;
  /** This, the instance and the flow are null, too, where the access does not see them. */
  readonly contextSlug: string | null;
  readonly instance: string | null;
  readonly flowSlug: string | null;
  readonly keyId: string;
  readonly requestId: string;
  readonly traceId: string | null;
  readonly executionId: string | null;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationUs: number;
  readonly matched: readonly number[];
  /** Null for a rule, where it was not asked for, and where it says more than the access may know. */
  readonly pathTrace: unknown;
  readonly request: unknown;
  readonly response: unknown;
  /** Requests that it stands for, itself included. */
  readonly standsFor: number;
  /** Whether something was cut, or replaced since it cannot be stored. */
  readonly isAltered: boolean;
  /** Whether it passes the filters itself. */
  readonly passes: boolean;
  /** How many items of the decision are to be shown; more than are here where they exceed what is read at once. */
  readonly shownItems: number;
}

/** What a summary may be split by. */
export type SummaryDimension = 'asset' | 'version' | 'status' | 'time';
export type SummaryBucket = 'minute' | 'hour' | 'day';

/** Counts and durations of inputs. */
export interface DecisionSums {
  /** Inputs that were decided or refused; a record that stands for several counts as many. */
  readonly count: number;
  /** Of these, those whose status is 400 or more. */
  readonly errors: number;
  /** Microseconds of evaluation that half, 90, 95 and 99 % and all of what was evaluated took at most; null where nothing was. */
  readonly durationsUs: readonly [number, number, number, number, number] | null;
}

/** Sums of what has the same values in all dimensions that were asked for; others are undefined. */
export interface DecisionGroup extends DecisionSums {
  readonly kind: AssetKind | undefined;
  readonly slug: string | undefined;
  /** Null where what decided was gone when the record came. */
  readonly assetId: string | null | undefined;
  /** Empty where it was refused before a version was chosen. */
  readonly versionId: string | undefined;
  readonly status: number | undefined;
  /** When the bucket begins, ISO 8601. */
  readonly time: string | undefined;
}

/** How a summary is split. */
export interface SummarySplit {
  readonly by: readonly SummaryDimension[];
  readonly bucket: SummaryBucket;
  /** Groups at most: those with the highest counts, and by time the latest. */
  readonly most: number;
}

/** Messages of a producer that have not arrived. */
export interface MissingMessages {
  readonly producer: string;
  /** Number of the first of them. */
  readonly from: number;
  /** How many; null where the producer ended without saying how far it had counted: perhaps none. */
  readonly count: number | null;
  /** They were decided from this minute on, to the end of the other one. ISO 8601. `before` is null where nothing came after them. */
  readonly after: string;
  readonly before: string | null;
}

/** Which missing messages are wanted. */
export interface MissingOptions {
  /** ISO 8601: what may have been decided from `start` on and before `end`. */
  readonly start: string;
  readonly end: string;
  /** Since when all that has arrived is known, ISO 8601. */
  readonly knownFrom: string;
  /** ISO 8601: what was decided later may still arrive. */
  readonly settledBefore: string;
  /** ISO 8601: a producer that has said nothing since has ended. */
  readonly silentBefore: string;
  readonly most: number;
}

/** Decisions in the order that was asked for, and their items. */
export interface DecisionPage {
  readonly shown: readonly FoundDecision[];
  /** Of the decisions that are shown, in the order of their positions. */
  readonly items: readonly DecisionItemRecord[];
  /** Whether no further decision was found. */
  readonly isLast: boolean;
}

/** What is read of decisions. */
interface Reading {
  readonly withTraces: boolean;
  /** Of all items together, at most; the first item of each decision is read whatever it has. */
  readonly characters: number;
}

/** Answers questions about the decisions that one access sees. */
export interface DecisionAnswers {
  /** Of how many decisions an item passes the filters, a list counted once. */
  count(filters: DecisionFilters): Promise<number>;
  /** Reads the items of decisions that were found, in the order of their positions. */
  read(
    found: readonly FoundDecision[],
    filters: DecisionFilters,
    reading: Reading,
  ): Promise<readonly DecisionItemRecord[]>;
  /**
   * Finds decisions of which an item passes the filters, and reads them. Ties of the sort go by time, those of one moment by id. The page ends at the limit, and where the next decision would make it exceed `pageCharacters`; it has one decision
   * at least where any is found.
   */
  readPage(
    filters: DecisionFilters,
    order: DecisionOrder,
    reading: Reading & { readonly pageCharacters: number },
  ): Promise<DecisionPage>;
  /** The decision of an id, where there is one. */
  findOne(id: string): Promise<FoundDecision | undefined>;
  /** Sums up the inputs that pass the filters, in all and by group, the latest and largest first. */
  summarise(
    filters: DecisionFilters,
    split: SummarySplit,
  ): Promise<{ readonly total: DecisionSums; readonly groups: readonly DecisionGroup[] }>;
  /** Messages that have not arrived, the newest first. */
  findMissing(options: MissingOptions): Promise<readonly MissingMessages[]>;
}
