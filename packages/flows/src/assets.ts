import { type FieldType } from '@decision/contracts';
import { type CompiledRule } from '@decision/engine';

/** A field of an asset's input or output. `any` accepts every value. */
export interface AssetField {
  readonly key: string;
  readonly type: FieldType | 'any';
}

/** The part of an asset that problems of a flow may show. */
interface ShownAsset {
  /** Whether it is hidden from the reader: then problems name none of its fields. Default: false. */
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
  /** The outputs of its results. */
  readonly outputs: readonly AssetField[];
  /** Nesting depth of its subflows, including itself. */
  readonly depth: number;
  /** Whether one of its nodes reaches out, and therefore answers later. */
  readonly reachesOut: boolean;
  /** The flows that it runs directly. */
  readonly subflows: readonly FlowAsset[];
}

/** Finds the assets that a flow names. Undefined for unpublished and for hidden ones alike. */
export interface FlowAssets<Rule extends RuleAsset = RuleAsset, Flow extends FlowAsset = FlowAsset> {
  /** `selector` is `latest`, a number or the slug of an environment. */
  findRule(slug: string, selector: string): Rule | undefined;
  findFlow(slug: string, version: number): Flow | undefined;
}

/** A rule that can be evaluated. */
export interface CompiledRuleAsset extends RuleAsset {
  /** Undefined: too large to be compiled in this thread; `RunOptions.evaluate` evaluates it elsewhere. */
  readonly rule: CompiledRule | undefined;
  /** Its immutable version, for evaluation elsewhere. */
  readonly versionId?: string;
}
