import { type ServiceName } from '@decision/contracts';
import { type Logger, type Metrics, type Stopper } from '@decision/service-kit';

/** Inputs for opening a part of a service; `ServiceStart` has all of them except the name. */
export interface Opening<Settings> {
  /** The client name that servers see. */
  readonly name: ServiceName;
  readonly config: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Stops every opened part together with the service. */
  readonly stopper: Stopper;
}
