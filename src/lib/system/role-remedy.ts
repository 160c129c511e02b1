/** The command that gives somebody the rights of a role; what is behind the blanks is for a person. */
export const roleRemedy = (role: 'kvup-view' | 'kvup-upgrade' | 'kvup-olm'): string =>
  `kvup rbac ${role} | kubectl apply -f -     then bind it to this user`
