import { csvOf, type OperatorScene } from '../../upgrade/olm/operator-scene.ts'
import type { Shut } from './shut.ts'

/**
 * What is not so of the CSV that the Subscription says is installed; undefined where it is Succeeded at this look. A CSV falls back whenever its Deployments
 * do (ocp 2.4), so that an earlier Succeeded says nothing.
 */
export function installedUnsettled(scene: OperatorScene): Shut | undefined {
  const { metadata, status = {} } = scene.subscription
  const { namespace = '', name } = metadata
  const { installedCSV } = status
  if (installedCSV === undefined)
    return {
      is: 'waiting',
      on: `subscriptions/${name} to say which ClusterServiceVersion is installed`,
      remedy: [`oc -n ${namespace} get subscriptions.operators.coreos.com ${name} -o yaml`],
    }
  const { phase = 'none', reason, message } = csvOf(scene, { csv: installedCSV })?.status ?? {}
  if (phase === 'Succeeded') return undefined
  const why = [reason, message].filter(Boolean).join(': ')
  return {
    is: 'waiting',
    on: `clusterserviceversions/${installedCSV} to be Succeeded, it is ${phase}`,
    ...(why !== '' && { trouble: why }),
    remedy: [
      `oc -n ${namespace} describe clusterserviceversion ${installedCSV}`,
      `oc -n ${namespace} get pods`,
    ],
  }
}
