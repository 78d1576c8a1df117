import { type FieldType } from '@decision/contracts';
import { type CompiledRule } from '@decision/engine';

/** A field of an asset's input or output. `any` takes every value. */
export interface AssetField {
  readonly key: string;
  readonly type: FieldType | 'any';
}

/** What is shown of an asset to whoever reads problems of a flow. */
interface ShownAsset {
  /** Whether the reader does not see it: problems name none of its fields. Default: false. */
  readonly isHidden?: boolean;
}

/** A published rule as a flow sees it. */
export interface RuleAsset extends ShownAsset {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
  readonly inputs: readonly AssetField[];
  readonly outputs: readonly AssetField[];
}

/** A published version of a flow as another flow sees it. */
export interface FlowAsset extends ShownAsset {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
  /** The input fields of its origin. */
  readonly inputs: readonly AssetField[];
  /** What its results answer. */
  readonly outputs: readonly AssetField[];
  /** How many flows lie within one another in it, itself included. */
  readonly depth: number;
  /** Whether a node in it asks something outside, and therefore answers later. */
  readonly reachesOut: boolean;
  /** The flows that it runs itself. */
  readonly subflows: readonly FlowAsset[];
}

/** Finds what a flow names. What is not published and what may not be seen are alike: undefined. */
export interface FlowAssets<Rule extends RuleAsset = RuleAsset, Flow extends FlowAsset = FlowAsset> {
  /** `selector` is `latest`, a number or the slug of an environment. */
  findRule(slug: string, selector: string): Rule | undefined;
  findFlow(slug: string, version: number): Flow | undefined;
}

/** A rule that can be evaluated. */
export interface CompiledRuleAsset extends RuleAsset {
  /** Undefined: too large to be compiled in this thread; `RunOptions.evaluate` knows where it is. */
  readonly rule: CompiledRule | undefined;
  /** Its immutable version, for whoever evaluates it elsewhere. */
  readonly versionId?: string;
}
