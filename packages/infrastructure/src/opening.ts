import { type ServiceName } from '@decision/contracts';
import { type Logger, type Metrics, type Stopper } from '@decision/service-kit';

/** Dependencies of opening a part of a service; `ServiceStart` has all of them but the name. */
export interface Opening<Settings> {
  /** How the service calls itself towards servers. */
  readonly name: ServiceName;
  readonly config: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Gets a stop of everything that is opened. */
  readonly stopper: Stopper;
}
