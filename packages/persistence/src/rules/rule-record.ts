import { type RuleField, type RuleGroup, type RuleRow, type RuleSettings } from '@decision/contracts';

/** The parts of a rule that a person edits before publishing. */
export interface RuleDraft {
  readonly name: string;
  readonly description: string | null;
  readonly labels: string[];
  readonly folder: unknown;
  readonly requestSchema: RuleField[];
  readonly responseSchema: RuleField[];
  readonly conditions: RuleRow[];
  readonly groups: Record<string, RuleGroup>;
  readonly settings: RuleSettings;
  readonly testSuite: Record<string, unknown>[];
  readonly sampleRequest: unknown;
  readonly sampleResponse: unknown;
  readonly testRequest: unknown;
  readonly metadata: Record<string, unknown>;
  readonly context: unknown;
}

/** Fields of a rule beside its draft. Times are ISO 8601 UTC with milliseconds. */
export interface RuleFacts {
  readonly id: string;
  readonly slug: string;
  /** Empty: an access that is restricted to groups does not see the rule. */
  readonly userGroups: readonly string[];
  /** Number of the version in service; null where the rule is not published. */
  readonly publishedVersion: number | null;
  readonly publishedAt: string | null;
  readonly createdAt: string;
  /** When the draft last changed; strictly later with each change. */
  readonly updatedAt: string;
  readonly updatedBy: string | null;
}

/** A rule with its whole draft. */
export interface RuleRecord extends RuleDraft, RuleFacts {}

/** A rule as lists show it: without its rows. */
export interface RuleSummary
  extends
    RuleFacts,
    Pick<
      RuleDraft,
      'name' | 'description' | 'labels' | 'folder' | 'requestSchema' | 'responseSchema' | 'metadata' | 'context'
    > {
  readonly rowCount: number;
}
