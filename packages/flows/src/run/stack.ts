import { type Frame } from './frame';

/** Runnable frames; the top one runs. */
export class FrameStack {
  private frames: Frame[] = [];

  get top(): Frame | undefined {
    return this.frames.at(-1);
  }

  /** Pushes a frame, unless it is already on the stack. */
  queue(frame: Frame): void {
    if (frame.isQueued) return;
    frame.isQueued = true;
    this.frames.push(frame);
  }

  /** Pops the top frame. */
  park(frame: Frame): void {
    this.frames.pop();
    frame.isQueued = false;
  }

  /** Removes all matching frames. */
  drop(isMeant: (frame: Frame) => boolean): void {
    for (const frame of this.frames) if (isMeant(frame)) frame.isQueued = false;
    this.frames = this.frames.filter((frame) => !isMeant(frame));
  }
}
