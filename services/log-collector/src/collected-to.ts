import { type Subscriber } from '@decision/broker';
import { type Stopper } from '@decision/service-kit';

/** Interval at which progress is checked, ms. */
const LOOK_MS = 5_000;

/** Follows the progress of a group: answers the moment up to which all messages have been handled, epoch ms; undefined: unknown. */
export const followProgress = (subscriber: Subscriber, name: string, stopper: Stopper): (() => number | undefined) => {
  let handledTo: number | undefined;
  const looking = setInterval(() => {
    // It does not change while the broker does not answer.
    subscriber.lookHandledUpTo().then(
      (moment) => (handledTo = moment),
      () => undefined,
    );
  }, LOOK_MS).unref();
  stopper.add(name, () => Promise.resolve(clearInterval(looking)));
  return () => handledTo;
};
