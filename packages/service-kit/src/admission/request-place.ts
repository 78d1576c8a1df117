import { type ServerResponse } from 'node:http';
import { type Admission } from './admission';
import { type LargeBodies } from './large-bodies';

/** The places of admitted requests. */
export class RequestPlaces {
  constructor(
    private readonly admission: Admission,
    private readonly largeBodies: LargeBodies,
  ) {}

  /** Admits a request whose caller is known. Throws `overloaded`. */
  enter(): RequestPlace {
    this.admission.enter();
    return new RequestPlace(this.admission, this.largeBodies);
  }
}

/** Resources of one admitted request: a place in flight, bytes of its body and its answer, perhaps a place among the large ones. */
export class RequestPlace {
  private readonly large;
  /** Bytes of the body and of the answer that are held. */
  private body = 0;
  private answer = 0;
  private bodySize = 0;
  private answerMs: number | undefined;

  constructor(
    private readonly admission: Admission,
    largeBodies: LargeBodies,
  ) {
    this.large = largeBodies.place();
  }

  /** Told of the size of the body so far; all of it is held. Throws `overloaded`. */
  readonly onSize = (bytes: number): void => {
    this.admission.hold(bytes - this.bodySize);
    this.body += bytes - this.bodySize;
    this.bodySize = bytes;
    this.large.onSize(bytes);
  };

  /** As {@link onSize}, of a body of which `mostHeld` bytes are in memory at once at most. */
  onStreamed(bytes: number, mostHeld: number): void {
    const more = Math.min(bytes, mostHeld) - this.body;
    this.admission.hold(more);
    this.body += more;
    this.large.onSize(bytes);
  }

  /** Counts bytes of the answer before they are there, where they fit. */
  tryAnswer(bytes: number): boolean {
    if (!this.admission.tryHold(bytes)) return false;
    this.answer += bytes;
    return true;
  }

  /** Counts bytes of the answer that are there, or takes away what is not there any more. */
  addAnswer(bytes: number): void {
    this.admission.add(bytes);
    this.answer += bytes;
  }

  /** Bytes of the body that are not needed any more. */
  bodyDone(bytes: number): void {
    const done = Math.min(bytes, this.body);
    this.admission.add(-done);
    this.body -= done;
  }

  /** Whether no other request holds any bytes. */
  isAlone(): boolean {
    return this.admission.bytesInFlight <= this.body + this.answer;
  }

  /** Bytes that all requests together may hold. */
  get mostBytes(): number {
    return this.admission.mostBytes;
  }

  /** The refusal of a request for whose bytes there is no room. */
  refusal(): Error {
    return this.admission.refusalOfBytes();
  }

  /** Counts the answer, which exists already, in place of the body, which is not needed any more. */
  answerInstead(bytes: number): void {
    this.admission.add(bytes - this.body - this.answer);
    this.body = 0;
    this.answer = bytes;
  }

  /** Told how long it took to answer, where that says something about everybody: the time of one input, or of one instance. */
  answered(ms: number): void {
    this.answerMs = ms;
  }

  /** Gives everything back once the answer has left this process, or at once where it has. To be called once. */
  releaseAfter(response: ServerResponse): void {
    if (response.writableLength === 0 || response.destroyed) this.release();
    else response.once('close', () => this.release());
  }

  private release(): void {
    this.large.release();
    this.admission.leave(this.body + this.answer, this.answerMs);
  }
}
