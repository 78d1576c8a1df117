import { type Frame } from './frame';

/** Frames that can go on; the uppermost does. */
export class FrameStack {
  private frames: Frame[] = [];

  get top(): Frame | undefined {
    return this.frames.at(-1);
  }

  /** Puts a frame on top, unless it stands on the stack already. */
  queue(frame: Frame): void {
    if (frame.isQueued) return;
    frame.isQueued = true;
    this.frames.push(frame);
  }

  /** Takes the uppermost frame from the stack. */
  park(frame: Frame): void {
    this.frames.pop();
    frame.isQueued = false;
  }

  /** Takes out all frames that are meant. */
  drop(isMeant: (frame: Frame) => boolean): void {
    for (const frame of this.frames) if (isMeant(frame)) frame.isQueued = false;
    this.frames = this.frames.filter((frame) => !isMeant(frame));
  }
}
