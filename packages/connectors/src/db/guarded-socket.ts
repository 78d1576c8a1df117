import { Socket } from 'node:net';
import { type AddressGuard } from '../network/address-guard';

/** A socket that connects to the address that a guard checked, and counts the bytes it reads. */
export class GuardedSocket extends Socket {
  private mark = 0;

  constructor(private readonly guard: AddressGuard) {
    super();
  }

  // The driver calls it only with a port and a host.
  override connect(...target: readonly unknown[]): this {
    const [port, host] = target as readonly [number, string];
    this.guard.resolve(host, port).then(
      ({ address }) => super.connect(port, address),
      (error: unknown) => this.destroy(error as Error), // the guard rejects only with errors
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
