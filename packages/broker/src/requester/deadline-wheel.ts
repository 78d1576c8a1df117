/** Deadlines are kept in slots of this width, ms: an item expires at most this much late. */
export const SLOT_MS = 16;

/** Things with deadlines, of which most are removed long before. Adding and removing cost the same however many there are. */
interface DeadlineWheel<T> {
  /** `deadline` in epoch ms. Returns when the item will be due: at the deadline or up to one slot after it. */
  add(deadline: number, item: T): number;
  /** With the deadline that it was added with. */
  remove(deadline: number, item: T): void;
  /** Removes and returns what is due. */
  takeDue(now: number): T[];
  /** Epoch ms of the next moment at which something may be due; undefined when empty. */
  nextDue(): number | undefined;
}

/** Slot whose end is the first at or after the deadline: nothing expires early. */
const slotOf = (deadline: number): number => Math.ceil(deadline / SLOT_MS);

/** Makes an empty wheel. It has no timer: the caller asks. */
export const createDeadlineWheel = <T>(): DeadlineWheel<T> => {
  const slots = new Map<number, Set<T>>();
  return {
    add: (deadline, item) => {
      const slot = slotOf(deadline);
      const items = slots.get(slot);
      if (items === undefined) slots.set(slot, new Set([item]));
      else items.add(item);
      return slot * SLOT_MS;
    },
    remove: (deadline, item) => {
      const slot = slotOf(deadline);
      const items = slots.get(slot);
      if (items?.delete(item) && items.size === 0) slots.delete(slot);
    },
    takeDue: (now) => {
      const due: T[] = [];
      for (const [slot, items] of slots) {
        if (slot * SLOT_MS > now) continue;
        due.push(...items);
        slots.delete(slot);
      }
      return due;
    },
    nextDue: () => {
      let first: number | undefined;
      for (const slot of slots.keys()) if (first === undefined || slot < first) first = slot;
      return first === undefined ? undefined : first * SLOT_MS;
    },
  };
};
