import { type AssetKind } from '@decision/contracts';

/** A place in a record: names from the outermost on. Lists on the way count as their items. */
export type FieldPath = readonly string[];

/** Which decisions a sink is sent. Undefined: all of them. */
export interface SinkFilter {
  /** Slugs; without a kind, rules and flows. */
  readonly assets: readonly { readonly kind: AssetKind | undefined; readonly slug: string }[] | undefined;
  /** Ids in lower case. */
  readonly workspaces: ReadonlySet<string> | undefined;
  /** From the first to the last HTTP status, both included. */
  readonly statuses: readonly (readonly [number, number])[] | undefined;
  /** Share of requests, above 0 and at most 1. */
  readonly sampleRate: number;
}

/** What of a decision a sink is sent. */
export interface FieldMask {
  /** Undefined: everything. */
  readonly only: readonly FieldPath[] | undefined;
  readonly without: readonly FieldPath[];
}

/** How often and how long a sink is tried. */
export interface RetrySettings {
  /** Pauses between attempts, ms. */
  readonly initialMs: number;
  readonly maxMs: number;
  /** Attempts, and age of messages in ms, from which on they are given up; both must be reached. */
  readonly attempts: number;
  readonly giveUpAfterMs: number;
}

/** Where a sink asks over HTTP. */
export interface WebSettings {
  readonly url: URL;
  /** By name in lower case; may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a sink is, by its protocol. */
export type TargetSettings =
  | ({ readonly kind: 'http'; readonly signingKey: string | undefined } & WebSettings)
  | ({ readonly kind: 'json-rows'; readonly table: string } & WebSettings)
  | ({ readonly kind: 'bulk-index'; readonly index: string; readonly action: 'create' | 'index' } & WebSettings)
  | ({ readonly kind: 'otlp'; readonly resource: Readonly<Record<string, string>> } & WebSettings)
  | { readonly kind: 'kafka'; readonly topic: string };

/** One sink, as the file of sinks describes it. */
export interface SinkSettings {
  /** Names its consumer group, metrics and file of dead letters. */
  readonly name: string;
  readonly target: TargetSettings;
  readonly filter: SinkFilter;
  readonly fields: FieldMask;
  /** Most records, and about as many bytes, that are sent at once; a single larger record is sent alone. */
  readonly batch: { readonly records: number; readonly bytes: number };
  /** How long one request may take, ms. */
  readonly timeoutMs: number;
  readonly retry: RetrySettings;
}
