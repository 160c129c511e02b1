# PowerShell completion for kvup: kvup completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'kvup' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object {
      if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
  # Older versions cannot pass an empty argument, but they can pass its quotes.
  if ($wordToComplete -eq '') { $words += '""' }
  $prefix = if ($wordToComplete -match '^--[^=]+=') { $Matches[0] } else { '' }
  kvup __complete '--' $words 2>$null | Where-Object { $_ -notmatch '^:[0-9]+$' } | ForEach-Object {
    $value, $description = $_ -split [char]9, 2
    if (-not $description) { $description = $value }
    $text = $prefix + $value
    if ($text -notmatch '^[\w./:%+=-]+$') { $text = "'" + ($text -replace "['\u2018-\u201B]", '$0$0') + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
  }
}
