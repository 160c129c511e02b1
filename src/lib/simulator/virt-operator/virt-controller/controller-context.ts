import type { ControllerContext } from '../../machinery/controller.ts'

/** A leading virt-controller. */
export interface VirtControllerContext extends ControllerContext {
  /** The image that new virt-launcher pods get and all others are compared with (facts 2.10). */
  readonly launcherImage: string
  readonly namespace: string
}

/** Now, in whole seconds, as status fields have it. */
export const seconds = ({ clock }: Pick<ControllerContext, 'clock'>): string =>
  clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
