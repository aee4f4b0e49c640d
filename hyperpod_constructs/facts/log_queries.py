"""Queries of CloudWatch Logs Insights, and the identifiers of policies that mask lines (as of 2026-11-28; read, not measured)."""

from __future__ import annotations

COMMANDS = (
    *("anomaly", "dedup", "diff", "display", "fields", "filter", "filterIndex", "join", "limit", "lookup", "parse", "pattern"),
    *("sort", "SOURCE", "stats", "unmask", "unnest"),
)
"""The commands of the language of Logs Insights.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
"""

OF_OTHERS = ("count", "eval", "extend", "from", "group", "having", "head", "order", "project", "search", "select", "table", "where")
"""Commands of other languages with which a query begins by mistake."""

# fmt: off
IDENTIFIERS = frozenset((
    "Address", "AwsSecretKey", "BankAccountNumber-DE", "BankAccountNumber-ES", "BankAccountNumber-FR", "BankAccountNumber-GB",
    "BankAccountNumber-IT", "BankAccountNumber-US", "CepCode-BR", "Cnpj-BR", "CpfCode-BR", "CreditCardExpiration",
    "CreditCardNumber", "CreditCardSecurityCode", "DriversLicense-AT", "DriversLicense-AU", "DriversLicense-BE",
    "DriversLicense-BG", "DriversLicense-CA", "DriversLicense-CY", "DriversLicense-CZ", "DriversLicense-DE",
    "DriversLicense-DK", "DriversLicense-EE", "DriversLicense-ES", "DriversLicense-FI", "DriversLicense-FR",
    "DriversLicense-GB", "DriversLicense-GR", "DriversLicense-HR", "DriversLicense-HU", "DriversLicense-IE",
    "DriversLicense-IT", "DriversLicense-LT", "DriversLicense-LU", "DriversLicense-LV", "DriversLicense-MT",
    "DriversLicense-NL", "DriversLicense-PL", "DriversLicense-PT", "DriversLicense-RO", "DriversLicense-SE",
    "DriversLicense-SI", "DriversLicense-SK", "DriversLicense-US", "DrugEnforcementAgencyNumber-US", "ElectoralRollNumber-GB",
    "EmailAddress", "HealthInsuranceCardNumber-EU", "HealthInsuranceClaimNumber-US", "HealthInsuranceNumber-FR",
    "HealthcareProcedureCode-US", "IndividualTaxIdentificationNumber-US", "InseeCode-FR", "IpAddress", "LatLong",
    "MedicareBeneficiaryNumber-US", "Name", "NationalDrugCode-US", "NationalIdentificationNumber-DE",
    "NationalIdentificationNumber-ES", "NationalIdentificationNumber-IT", "NationalInsuranceNumber-GB", "NationalProviderId-US",
    "NhsNumber-GB", "NieNumber-ES", "NifNumber-ES", "OpenSshPrivateKey", "PassportNumber-CA", "PassportNumber-DE",
    "PassportNumber-ES", "PassportNumber-FR", "PassportNumber-GB", "PassportNumber-IT", "PassportNumber-US",
    "PermanentResidenceNumber-CA", "PersonalHealthNumber-CA", "PgpPrivateKey", "PhoneNumber-BR", "PhoneNumber-DE",
    "PhoneNumber-ES", "PhoneNumber-FR", "PhoneNumber-GB", "PhoneNumber-IT", "PhoneNumber-US", "PkcsPrivateKey", "PostalCode-CA",
    "PuttyPrivateKey", "RgNumber-BR", "SocialInsuranceNumber-CA", "Ssn-ES", "Ssn-US", "TaxId-DE", "TaxId-ES", "TaxId-FR",
    "TaxId-GB", "VehicleIdentificationNumber", "ZipCode-US",
))
# fmt: on
"""What a policy finds, by the last name of its ARN.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/protect-sensitive-log-data-types.html
"""
