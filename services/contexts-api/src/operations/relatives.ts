import { type Aggregates, type RelatedInstances } from '@decision/contexts';

/** Data of the instances to which one is related. */
export interface Relatives {
  readonly related: RelatedInstances;
  readonly aggregates: Aggregates;
}

export const NO_RELATIVES: Relatives = Object.freeze({ related: {}, aggregates: {} });
