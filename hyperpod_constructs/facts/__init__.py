"""Facts of AWS: each figure stands here once, with its source and date.

These modules import no other part of the library, and neither jsii nor boto3.
"""
