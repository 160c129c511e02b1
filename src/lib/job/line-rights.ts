import { eusReads, type Right, rightsOf, type RoleName } from '../upgrade/role-rights.ts'

/** What a line does that needs a right which others of its role do not use. */
export interface LineUse {
  role: RoleName
  cancelsMigrations: boolean
  /** It waits until VMs are updated: at its end, or between the steps of a path. */
  waitsForVms: boolean
}

/** A right of the role that this line does not get. */
export interface LeftOutRight {
  right: string
  why: string
}

/** The rights that the line may use, and those of its role that it cannot. Pure. */
export function lineRights(use: LineUse): { rights: readonly Right[]; leftOut: readonly LeftOutRight[] } {
  const judged = rightsOf(use.role).map((right) => ({ right, why: whyUnused(right, use) }))
  return {
    rights: judged.filter(({ why }) => why === undefined).map(({ right }) => right),
    leftOut: judged.flatMap(({ right, why }) =>
      why === undefined ? [] : rightNames(right).map((name) => ({ right: name, why })),
    ),
  }
}

function whyUnused(right: Right, use: LineUse): string | undefined {
  const { resources, verbs, scope, names } = right
  if (right.onlyProbes) return 'only kvup check --probe-images tries images'
  if (isOfRoute(right)) return 'only --alerts=route reads alerts through the Route'
  if (!isUpgrade(use)) return undefined
  if (right.why === eusReads && use.role !== 'kvup-olm') return 'only an EUS upgrade reads it'
  const isOne = (resource: string, verb: string) =>
    resources.length === 1 && resources[0] === resource && verbs.length === 1 && verbs[0] === verb
  if (!use.cancelsMigrations && isOne('virtualmachineinstancemigrations', 'delete'))
    return 'only --migrations cancel deletes migrations'
  // A role has the same verb for checks, which the line makes too.
  const isOfLaunchers =
    scope === 'cluster' && names.length === 0 && isOne('pods', 'list') && !right.onlyChecks
  if (!use.waitsForVms && isOfLaunchers) return 'only a run that waits for VMs looks whether one runs twice'
  return undefined
}

const isUpgrade = ({ role }: LineUse): boolean =>
  role === 'kvup-upgrade' || role === 'kvup-operator-manifest' || role === 'kvup-olm'

const isOfRoute = ({ group, resources, names }: Right): boolean =>
  group === 'route.openshift.io' ||
  (resources.includes('ingresses') && group === 'config.openshift.io') ||
  names.includes('default-ingress-cert')

const rightNames = ({ group, resources, verbs, names }: Right): string[] =>
  resources.map((resource) =>
    [verbs.join(', '), group === '' ? resource : `${resource}.${group}`, ...names].join(' '),
  )
