/** A set of callbacks, none of which can disturb the others or the caller. */
export interface Listeners<A extends readonly unknown[]> {
  /** Adds a callback; returns what removes it. The same function added twice is called twice. */
  add(listener: (...args: A) => void): () => void;
  call(...args: A): void;
}

export const createListeners = <A extends readonly unknown[]>(onFailure: (error: unknown) => void): Listeners<A> => {
  const entries = new Set<{ readonly listener: (...args: A) => void }>();
  return {
    add: (listener) => {
      const entry = { listener };
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    call: (...args) => {
      for (const { listener } of entries) {
        try {
          listener(...args);
        } catch (error) {
          onFailure(error);
        }
      }
    },
  };
};
