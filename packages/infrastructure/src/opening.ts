import { type ServiceName } from '@decision/contracts';
import { type Logger, type Metrics, type Stopper } from '@decision/service-kit';

/** What is needed to open something for a service; `ServiceStart` has it all but the name. */
export interface Opening<Settings> {
  /** How the service calls itself towards servers. */
  readonly name: ServiceName;
  readonly config: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Gets a stop of everything that is opened. */
  readonly stopper: Stopper;
}
