import type { Question } from './check.ts'
import type { Finding } from './finding.ts'

/** Without commands that write to a KubeVirt which HyperConverged owns: it would set them back (ocp 1.4). Pure. */
export function notSetBack(finding: Finding, { installation }: Pick<Question, 'installation'>): Finding {
  const { manager, namespace } = installation
  if (manager.kind !== 'hyperconverged') return finding
  const remedy = finding.remedy.filter((line) => !/^kubectl .*\bpatch kubevirt /u.test(line))
  if (remedy.length === finding.remedy.length) return finding
  const show = `kubectl -n ${namespace} get hyperconvergeds.hco.kubevirt.io -o yaml     decides it: what is written to the KubeVirt is set back`
  return { ...finding, remedy: [...remedy, show] }
}
