import { ServiceError } from '@decision/contracts';
import { type BackOffBounds, backOffMs, pause, withDeadline } from '@decision/waiting';
import { brokerErrorText } from '../connection/broker-error';
import type { BrokerLog } from '../settings';
import type { ProducerSession } from './producer-session';

/** Time limit for opening a session, ms. */
const OPEN_DEADLINE_MS = 15_000;

interface SessionKeeperOptions {
  readonly log: BrokerLog;
  /** Wait between attempts. */
  readonly retry: BackOffBounds;
  /** Makes a session that is not open yet; `onLost` must be called when its connection is gone. */
  readonly create: (onLost: (reason: Error) => void) => ProducerSession;
  readonly onOpened: () => void;
  /** The session has lost its connection; the keeper still holds it until {@link SessionKeeper.lose}. */
  readonly onLost: (reason: Error) => void;
}

/**
 * Holds one open session. When it is given up, makes another with back-off, without limit. A failed session is discarded, never repaired, see
 * ProducerSession.
 */
export class SessionKeeper {
  private readonly stopping = new AbortController();
  private session: ProducerSession | undefined;
  private opening: ProducerSession | undefined;
  private connecting: Promise<void> | undefined;
  private why: string | undefined = 'not started';

  constructor(private readonly options: SessionKeeperOptions) {}

  /** The open session. */
  current(): ProducerSession | undefined {
    return this.session;
  }

  /** Why there is no session, as a clause; undefined when there is one. */
  reason(): string | undefined {
    return this.why;
  }

  /** Starts connecting, unless it is connected, connecting or stopped. */
  start(): void {
    if (this.session === undefined && !this.stopping.signal.aborted) this.connecting ??= this.keepConnecting();
  }

  /** Gives the session up and starts to make another. */
  lose(reason: string): void {
    this.session?.discard();
    this.session = undefined;
    this.why = reason;
    this.start();
  }

  /** Gives everything up. Resolves when the current attempt, if any, has ended. Idempotent. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.session?.discard();
    this.opening?.discard();
    this.session = undefined;
    await this.connecting;
  }

  private async keepConnecting(): Promise<void> {
    for (let failures = 0; !this.stopping.signal.aborted;) {
      const session = this.createSession();
      this.opening = session;
      try {
        await withDeadline(session.open(), OPEN_DEADLINE_MS, noAnswer);
        this.connecting = undefined;
        this.opened(session);
        return;
      } catch (error) {
        session.discard();
        failures += 1;
        await this.waitAfterFailure(failures, error);
      }
    }
  }

  private createSession(): ProducerSession {
    const session = this.options.create((reason) => {
      if (session === this.session) this.options.onLost(reason);
    });
    return session;
  }

  private opened(session: ProducerSession): void {
    this.opening = undefined;
    if (this.stopping.signal.aborted) {
      session.discard();
      return;
    }
    this.session = session;
    this.why = undefined;
    this.options.onOpened();
  }

  private async waitAfterFailure(failures: number, error: unknown): Promise<void> {
    const { log, retry } = this.options;
    this.why = brokerErrorText(error);
    if (failures === 1) log.warn({ reason: this.why }, 'The producer cannot connect and keeps trying');
    await pause(backOffMs(failures, retry), this.stopping.signal);
  }
}

const noAnswer = (): ServiceError => new ServiceError('broker_unavailable', 'the broker does not answer');
