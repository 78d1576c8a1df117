import { type Admission } from './admission';
import { type LargeBodies } from './large-bodies';

/** What one admitted request takes up: a place in flight, the bytes of its body, perhaps a place among the large ones. */
export class RequestPlace {
  private readonly large;
  private bytes = 0;
  private answerMs: number | undefined;

  private constructor(
    private readonly admission: Admission,
    largeBodies: LargeBodies,
  ) {
    this.large = largeBodies.place();
  }

  /** Admits a request. Throws `overloaded`. */
  static enter(admission: Admission, largeBodies: LargeBodies): RequestPlace {
    admission.enter();
    return new RequestPlace(admission, largeBodies);
  }

  /** Told of the size of the body so far. Throws `overloaded`. */
  readonly onSize = (bytes: number): void => {
    this.admission.hold(bytes - this.bytes);
    this.bytes = bytes;
    this.large.onSize(bytes);
  };

  /** Told how long a worker took for its one input. */
  answered(ms: number): void {
    this.answerMs = ms;
  }

  /** Gives everything back. To be called once. */
  readonly release = (): void => {
    this.large.release();
    this.admission.leave(this.bytes, this.answerMs);
  };
}
