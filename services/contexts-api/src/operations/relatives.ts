import { type Aggregates, type RelatedInstances } from '@decision/contexts';

/** What is read of the instances that one is related to. */
export interface Relatives {
  readonly related: RelatedInstances;
  readonly aggregates: Aggregates;
}

export const NO_RELATIVES: Relatives = Object.freeze({ related: {}, aggregates: {} });
