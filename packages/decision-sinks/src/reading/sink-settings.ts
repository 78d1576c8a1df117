import { type AssetKind } from '@decision/contracts';

/** A path in a record, outermost name first. Lists along it stand for their items. */
export type FieldPath = readonly string[];

/** Selects the decisions sent to a sink. Undefined: all of them. */
export interface SinkFilter {
  /** Slugs; without a kind: rules and flows. */
  readonly assets: readonly { readonly kind: AssetKind | undefined; readonly slug: string }[] | undefined;
  /** Ids in lower case. */
  readonly workspaces: ReadonlySet<string> | undefined;
  /** From the first to the last HTTP status, both included. */
  readonly statuses: readonly (readonly [number, number])[] | undefined;
  /** Share of requests, above 0 and at most 1. */
  readonly sampleRate: number;
}

/** The parts of a decision that are sent to a sink. */
export interface FieldMask {
  /** Undefined: everything. */
  readonly only: readonly FieldPath[] | undefined;
  readonly without: readonly FieldPath[];
}

/** How often and how long delivery to a sink is attempted. */
export interface RetrySettings {
  /** Pauses between attempts, ms. */
  readonly initialMs: number;
  readonly maxMs: number;
  /** Attempts, and age of messages in ms, after which they are given up; both must be reached. */
  readonly attempts: number;
  readonly giveUpAfterMs: number;
}

/** Address and headers of a sink that is reached over HTTP. */
export interface WebSettings {
  readonly url: URL;
  /** By name in lower case; may contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The kind of a sink, by its protocol. */
export type TargetSettings =
  | ({ readonly kind: 'http'; readonly signingKey: string | undefined } & WebSettings)
  | ({ readonly kind: 'json-rows'; readonly table: string } & WebSettings)
  | ({ readonly kind: 'bulk-index'; readonly index: string; readonly action: 'create' | 'index' } & WebSettings)
  | ({ readonly kind: 'otlp'; readonly resource: Readonly<Record<string, string>> } & WebSettings)
  | { readonly kind: 'kafka'; readonly topic: string };

/** One sink, as the file of sinks describes it. */
export interface SinkSettings {
  /** Part of the names of its consumer group, metrics and dead-letter file. */
  readonly name: string;
  readonly target: TargetSettings;
  readonly filter: SinkFilter;
  readonly fields: FieldMask;
  /** Maximum records, and approximate bytes, of one request; a single larger record is sent alone. */
  readonly batch: { readonly records: number; readonly bytes: number };
  /** How long one request may take, ms. */
  readonly timeoutMs: number;
  readonly retry: RetrySettings;
}
