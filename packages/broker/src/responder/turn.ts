/** The time for which a request keeps later ones waiting: until it is answered, or lets them start. */
export class Turn {
  private isOver = false;
  private onEnd: (() => void) | undefined;

  readonly end = (): void => {
    this.isOver = true;
    this.onEnd?.();
  };

  /** Resolves when the turn is over, at the latest with the answer. */
  endsWith(answered: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.onEnd = resolve;
      if (this.isOver) resolve();
      answered.then(resolve, reject);
    });
  }
}
