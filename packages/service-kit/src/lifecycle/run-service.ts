import { limits, ServiceError } from '@decision/contracts';
import { ConfigError, readConfig } from '../config/read-config';
import { processSettings } from '../config/service-settings';
import { type Config, type SettingsShape } from '../config/setting';
import { createLogger, type Logger } from '../logging/logger';
import { createMetrics, type Metrics } from '../metrics/metrics';
import { openTraces } from './open-traces';
import { StartRefusal } from './start-refusal';
import { createStopper, type Stopper } from './stopper';

/** Arguments of the start of a service. */
interface ServiceStart<S extends SettingsShape> {
  readonly config: Config<S>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Everything that is opened must be added here at once. */
  readonly stopper: Stopper;
}

interface ServiceDefinition<S extends SettingsShape> {
  readonly name: string;
  readonly settings: S;
  /** Wires and starts; rejects with {@link StartRefusal} for a reason that an operator can act on. */
  readonly start: (service: ServiceStart<S>) => Promise<void>;
}

/** Exit code of a process whose configuration cannot be used (sysexits: EX_CONFIG). */
const EXIT_CONFIGURATION = 78;
/** Time from the deadline of a request until the service's answer to it has been sent, ms. */
const AFTER_DEADLINE_MS = 2_000;
/** Time beyond the drain time after which the process exits even if something hangs, ms. */
const LAST_RESORT_MS = 1_500;

/**
 * Runs a service as this process: reads its configuration, starts it, stops it on SIGTERM or SIGINT, and ends the process with 0 after
 * a clean stop, 78 for a configuration that cannot be used, and 1 for anything else.
 */
export const runService = <S extends SettingsShape>({ name, settings, start }: ServiceDefinition<S>): void => {
  const config = readConfigOrExit(settings);
  const logger = createLogger({ service: name, level: config.logLevel });
  const stopper = createStopper();
  const { stop, stopping } = createStop(logger, stopper, stopTimeOf(config));
  // `on`, not `once`: a signal without a listener ends the process at once, so a second one would abort the draining.
  process.on('SIGTERM', () => stop('SIGTERM', 0));
  process.on('SIGINT', () => stop('SIGINT', 0));
  process.on('uncaughtException', (error) => exitAfterFault(logger, error, 'An uncaught error.'));
  process.on('unhandledRejection', (error) => exitAfterFault(logger, error, 'An unhandled rejection.'));
  const metrics = createMetrics(name);
  const begin = async (): Promise<void> => {
    await openTraces({ name, config, logger, metrics, stopper });
    await start({ config, logger, metrics, stopper });
  };
  begin().catch((error: unknown) => {
    // A start that is interrupted may well fail.
    if (stopping()) return logger.info({ err: error }, 'The start was cut short.');
    if (error instanceof StartRefusal || error instanceof ServiceError) logger.fatal(error.message);
    else logger.fatal({ err: error }, 'The service could not start.');
    stop('a failed start', 1);
  });
};

/** The drain time, ms. Default: the grace period plus the time that requests may run. */
const stopTimeOf = (config: {
  readonly shutdownDrainMs: number | undefined;
  readonly shutdownGraceMs?: unknown;
  readonly rpcTimeoutMs?: unknown;
}): number => {
  const longestMs = numberOr(config.rpcTimeoutMs, limits.rpcTimeoutMs.defaultValue) + AFTER_DEADLINE_MS;
  return (config.shutdownDrainMs ?? longestMs) + numberOr(config.shutdownGraceMs, 0);
};

/** A setting that only some services have. */
const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

const readConfigOrExit = <S extends SettingsShape>(settings: S): Config<S> & Config<typeof processSettings> => {
  try {
    // Read together, so that all faults are reported at once.
    return readConfig({ ...processSettings, ...settings }, process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIGURATION);
  }
};

/** Ends the process at once: after an unknown fault not even a clean stop can be trusted. The platform restarts it. */
const exitAfterFault = (logger: Logger, error: unknown, what: string): never => {
  logger.fatal({ err: error }, what);
  process.exit(1);
};

interface Stop {
  /** Ends the process with this code once everything is stopped. Later calls are ignored. */
  readonly stop: (why: string, exitCode: number) => void;
  readonly stopping: () => boolean;
}

const createStop = (logger: Logger, stopper: Stopper, drainMs: number): Stop => {
  let stopping = false;
  const stop = (why: string, exitCode: number): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ why, drain_ms: drainMs }, 'Stopping.');
    setTimeout(() => {
      logger.error('Stopping took too long; the process ends now.');
      process.exit(1);
    }, drainMs + LAST_RESORT_MS).unref();
    stopper.stop(drainMs).then(
      () => process.exit(exitCode),
      (error: unknown) => exitAfterFault(logger, error, 'Stopping failed.'),
    );
  };
  return { stop, stopping: () => stopping };
};
