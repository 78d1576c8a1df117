import { type Subscriber } from '@decision/broker';
import { type Stopper } from '@decision/service-kit';

/** How often it is looked how much has been handled, ms. */
const LOOK_MS = 5_000;

/** Follows how far a group has got: answers the moment up to which everything that was written has been handled, epoch ms; undefined: not known. */
export const followProgress = (subscriber: Subscriber, name: string, stopper: Stopper): (() => number | undefined) => {
  let handledTo: number | undefined;
  const looking = setInterval(() => {
    // While the broker does not answer it stays where it was.
    subscriber.lookHandledUpTo().then(
      (moment) => (handledTo = moment),
      () => undefined,
    );
  }, LOOK_MS).unref();
  stopper.add(name, () => Promise.resolve(clearInterval(looking)));
  return () => handledTo;
};
