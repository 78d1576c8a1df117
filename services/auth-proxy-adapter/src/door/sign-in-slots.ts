import { ServiceError } from '@decision/contracts';
import { createSlots, type SlotOptions, type Slots } from '@decision/waiting';

/** Slots for work that strangers can request: work that finds the queue full is refused with `overloaded`. */
export const createSignInSlots = (limits: Omit<SlotOptions, 'refusal'>): Slots =>
  createSlots({
    ...limits,
    refusal: () =>
      new ServiceError('overloaded', 'Too many people are signing in at this moment; try again in a moment.'),
  });
