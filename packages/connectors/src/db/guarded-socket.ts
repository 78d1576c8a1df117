import { Socket } from 'node:net';
import { type AddressGuard } from '../network/address-guard';

/** A socket that connects to the address that a guard checked, and counts what it reads. */
export class GuardedSocket extends Socket {
  private mark = 0;

  constructor(private readonly guard: AddressGuard) {
    super();
  }

  // The driver calls it with a port and a host, and in no other way.
  override connect(...target: readonly unknown[]): this {
    const [port, host] = target as readonly [number, string];
    this.guard.resolve(host, port).then(
      ({ address }) => super.connect(port, address),
      (error: unknown) => this.destroy(error as Error), // the guard rejects with errors alone
    );
    return this;
  }

  /** Counts from here on. */
  beginCount(): void {
    this.mark = this.bytesRead;
  }

  get counted(): number {
    return this.bytesRead - this.mark;
  }
}
